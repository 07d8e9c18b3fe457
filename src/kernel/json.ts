import { createHash } from 'node:crypto';

/** Sorts keys, so that equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export const sha256Hex = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
