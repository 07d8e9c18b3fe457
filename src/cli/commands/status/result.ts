import * as wire from '../../../wire/flights/schema.ts';
import { published } from '../../spec/published.ts';
import { fromChain, verification } from '../intent/result.ts';

export const status = published(wire.intent, { others: { from_chain: fromChain, verification }, streams: true });
