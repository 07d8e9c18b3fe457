import { affiliateRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';
import { plan, published } from '../../spec/published.ts';

export const affiliateCreate = published(wire.affiliate, { plan: plan({ request: affiliateRequest }) });

export const affiliateShow = published(wire.affiliateCredit);
