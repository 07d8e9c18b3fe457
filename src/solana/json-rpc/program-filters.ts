import { getBase58Encoder } from '@solana/kit';
import * as z from 'zod';
import { integerParam } from './params.ts';
import { invalidParams } from './wire.ts';

/** 128 bytes in the longer of the two encodings. */
const MOST_MEMCMP = 175;

const programFilter = z.union([
  z.object({ dataSize: integerParam }),
  z.object({
    memcmp: z.looseObject({
      offset: integerParam,
      bytes: z.string().max(MOST_MEMCMP),
      encoding: z.enum(['base58', 'base64']).nullish(),
    }),
  }),
]);
/** Which of a program's accounts are wanted: those that every filter matches. */
export const programFilters = z.array(programFilter).max(4).nullish();

/** Tells whether the data of an account passes every filter. @throws JsonRpcError for a filter that cannot be read */
export function matcherOf(filters: z.infer<typeof programFilters>): (data: Uint8Array) => boolean {
  const matchers = (filters ?? []).map(matcher);
  return (data) => matchers.every((matches) => matches(data));
}

function matcher(filter: z.infer<typeof programFilter>): (data: Uint8Array) => boolean {
  if ('dataSize' in filter) return (data) => data.length === filter.dataSize;
  const { offset, bytes, encoding } = filter.memcmp;
  const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : Uint8Array.from(base58Bytes(bytes));
  return (data) => Buffer.compare(data.subarray(offset, offset + wanted.length), wanted) === 0;
}

function base58Bytes(text: string): Iterable<number> {
  try {
    return getBase58Encoder().encode(text);
  } catch {
    throw invalidParams('memcmp bytes are not base58');
  }
}
