import { createHash } from 'node:crypto';
import type { Findings } from './verdict.ts';

/** Of a picture or document, decoded. */
const MOST_FILE_BYTES = 5 * 1024 * 1024;

/**
 * Base64 in either alphabet, padded or not, to bytes; null when it is neither. Bits beyond the last byte must be
 * zero, so that one file has one text.
 */
function decodeBase64(text: string): Buffer | null {
  const bare = text.replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(bare) && !/^[A-Za-z0-9_-]*$/.test(bare)) return null;
  if (text.length !== bare.length && text.length % 4 !== 0) return null;
  const bytes = Buffer.from(bare, 'base64url');
  return bytes.toString('base64url') === bare.replaceAll('+', '-').replaceAll('/', '_') ? bytes : null;
}

/** SHA-256 as 64 hex digits or as base64 of its 32 bytes, to the bytes; null when it is neither. */
function decodeSha256(text: string): Buffer | null {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : decodeBase64(text);
  return bytes?.length === 32 ? bytes : null;
}

interface FileField {
  /** Path of the bytes, and of the hash beside it. */
  readonly at: string;
  readonly hashAt: string;
  readonly bytes: string | undefined;
  readonly hash: string | undefined;
}

/**
 * Checks one file and the hash beside it (spec/partner-service.md, Customer data): its size, and that the
 * hash is the SHA-256 of these very bytes. What it shows, and in which picture format, is for the attestation to judge:
 * telephones write formats that no list here would keep up with.
 * @returns the file in padded base64 and its hash in small hex; empty texts after a refusal
 */
export function checkFile(field: FileField, found: Findings): { bytes: string; hash: string } {
  const bytes = field.bytes === undefined ? null : decodeBase64(field.bytes);
  const hash = field.hash === undefined ? null : decodeSha256(field.hash);
  if (field.bytes === undefined) found.wrong(field.at, 'is missing.');
  else if (bytes === null) found.wrong(field.at, 'is not base64.');
  else if (bytes.length > MOST_FILE_BYTES) found.wrong(field.at, 'is larger than 5 MiB.');
  else if (bytes.length === 0) found.wrong(field.at, 'is empty.');
  if (field.hash === undefined) found.wrong(field.hashAt, 'is missing.');
  else if (hash === null) found.wrong(field.hashAt, 'is not a SHA-256 in hex or base64.');
  if (bytes === null || hash === null) return { bytes: '', hash: '' };
  const actual = createHash('sha256').update(bytes).digest();
  if (!actual.equals(hash)) found.wrong(field.hashAt, 'is not the SHA-256 of the bytes beside it.');
  return { bytes: bytes.toString('base64'), hash: actual.toString('hex') };
}
