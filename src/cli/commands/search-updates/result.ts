import * as wire from '../../../flights/schema.ts';
import { published } from '../../../published/published.ts';

export const searchUpdates = published(wire.searchUpdatesResponse);
