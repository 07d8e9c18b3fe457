import { published } from '../../../published/published.ts';
import * as wire from '../../../wire/flights/schema.ts';

export const searchUpdates = published(wire.searchUpdatesResponse);
