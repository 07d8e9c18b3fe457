import { decodeBase58Check } from './base58.ts';
import { isAllZeros, NOBODY, normal, type Verdict, wrong } from './verdict.ts';

/** A TRON address: base58check over 0x41 and 20 bytes, which makes 34 characters that begin with T. */
export function tronAddress(text: string): Verdict {
  const payload = decodeBase58Check(text);
  if (payload === null) return wrong('is not a TRON address, or has a checksum that does not match.');
  if (payload.length !== 21 || payload[0] !== 0x41) return wrong('is the address of another network.');
  return isAllZeros(payload.subarray(1)) ? NOBODY : normal(text);
}
