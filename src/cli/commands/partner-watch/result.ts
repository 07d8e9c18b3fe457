import { published } from '../../spec/published.ts';
import { seenOrder } from '../partner-orders/result.ts';

export const partnerOrdersWatch = published(seenOrder, { streams: true });
