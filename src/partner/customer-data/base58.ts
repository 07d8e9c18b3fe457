import { createHash } from 'node:crypto';
import { base58, createBase58check } from '@scure/base';

/** Decodes base58; null for any other text. */
export function decodeBase58(text: string): Uint8Array | null {
  return /^[1-9A-HJ-NP-Za-km-z]{1,128}$/.test(text) ? base58.decode(text) : null;
}

/** The bytes behind a base58check text (four bytes of double SHA-256 at its end); null where they don't match. */
export function decodeBase58Check(text: string): Uint8Array | null {
  const bytes = decodeBase58(text);
  if (bytes === null || bytes.length < 5) return null;
  const sha256 = (data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest());
  const payload = bytes.subarray(0, -4);
  // Encoding again and comparing says no without an exception.
  return createBase58check(sha256).encode(payload) === text ? payload : null;
}
