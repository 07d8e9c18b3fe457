import { createHash } from 'node:crypto';
import { isRealDate } from '../../kernel/clock.ts';
import {
  countryAlpha3,
  type Missing,
  normal,
  type Rules,
  todayOf,
  ungrouped,
  type Verdict,
  withoutBracket,
  wrong,
} from './verdict.ts';

/** Rules for identity documents, selfies and proofs of address. The back side is optional. */
export const rules: Rules = {
  'selfie.image': file,
  'selfie.imageHash': (text, { selfie }) => hashOf(text, selfie?.image),
  'proofOfAddress.file': file,
  'proofOfAddress.fileHash': (text, { proofOfAddress }) => hashOf(text, proofOfAddress?.file),
  'proofOfAddress.country': countryAlpha3,
  'idDocument.frontSideImage': file,
  'idDocument.frontSideImageHash': (text, { idDocument }) => hashOf(text, idDocument?.frontSideImage),
  'idDocument.backSideImage': file,
  'idDocument.backSideImageHash': (text, { idDocument }) => hashOf(text, idDocument?.backSideImage),
  'idDocument.documentNumber': documentNumber,
  'idDocument.issuingCountry': countryAlpha3,
  // The last day on which a document is valid.
  'idDocument.expiryDate': (text, _data, context) => {
    if (!isRealDate(text)) return wrong('must be a real date, written as YYYY-MM-DD.');
    return text >= todayOf(context) ? normal(text) : wrong('has passed: the document has expired.');
  },
};

/** A passport, licence or permit has an expiry date; an identity card may have none. */
export const missing: Missing = {
  'idDocument.backSideImage': ({ idDocument }) => idDocument?.backSideImageHash !== undefined && 'is missing.',
  'idDocument.backSideImageHash': ({ idDocument }) => idDocument?.backSideImage !== undefined && 'is missing.',
  'idDocument.expiryDate': ({ idDocument }) => idDocument?.documentType !== 'ID_CARD' && 'is missing.',
};

/** The number of a document: 4 to 30 letters (of any script) and digits, at least one a digit; kept in capitals. */
function documentNumber(text: string): Verdict {
  const code = withoutBracket(ungrouped(text.normalize('NFC'))).toUpperCase();
  return /^(?=.*\p{Nd})[\p{L}\p{Nd}]{4,30}$/u.test(code)
    ? normal(code)
    : wrong('must be 4 to 30 letters and digits, at least one of them a digit.');
}

/** Of a decoded picture or document. */
const MOST_FILE_BYTES = 5 * 1024 * 1024;

/**
 * Checks a file's size (spec/partner-service.md, Customer data); kept in padded base64. The attestation judges the
 * content and the picture format, because no list of formats would keep up with phones.
 */
function file(text: string): Verdict {
  const bytes = decodeBase64(text);
  if (bytes === null) return wrong('is not base64.');
  if (bytes.length > MOST_FILE_BYTES) return wrong('is larger than 5 MiB.');
  return bytes.length === 0 ? wrong('is empty.') : normal(bytes.toString('base64'));
}

/** Checks the SHA-256 of the file beside it, given as 64 hex digits or as base64; kept as lower-case hex. */
function hashOf(text: string, beside: string | undefined): Verdict {
  const hash = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : decodeBase64(text);
  if (hash?.length !== 32) return wrong('is not a SHA-256 in hex or base64.');
  const bytes = beside === undefined ? null : decodeBase64(beside);
  // The field of the file reports a file that cannot be decoded.
  return bytes === null || createHash('sha256').update(bytes).digest().equals(hash)
    ? normal(hash.toString('hex'))
    : wrong('is not the SHA-256 of the bytes beside it.');
}

/** Decodes base64 of either alphabet, padded or not; null if invalid, or if unused bits are not zero. */
function decodeBase64(text: string): Buffer | null {
  const bare = text.replace(/={1,2}$/, '');
  if (!/^[A-Za-z0-9+/]*$/.test(bare) && !/^[A-Za-z0-9_-]*$/.test(bare)) return null;
  if (text.length !== bare.length && text.length % 4 !== 0) return null;
  const bytes = Buffer.from(bare, 'base64url');
  return bytes.toString('base64url') === bare.replaceAll('+', '-').replaceAll('/', '_') ? bytes : null;
}
