import { isSignature, type Signature } from '@solana/kit';

/** True for 64 bytes in base58. The library's own check throws where a character is none of base58. */
export function isSignatureText(value: unknown): value is Signature {
  if (typeof value !== 'string') return false;
  try {
    return isSignature(value);
  } catch {
    return false;
  }
}
