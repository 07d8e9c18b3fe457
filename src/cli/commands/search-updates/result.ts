import * as wire from '../../../wire/flights/schema.ts';
import { published } from '../../spec/published.ts';

export const searchUpdates = published(wire.searchUpdatesResponse);
