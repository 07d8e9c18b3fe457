import { createHash } from 'node:crypto';
import { countryAlpha3, documentNumber, expiryDate } from './identity.ts';
import type { CustomerData } from './schema.ts';
import type { DataContext, Findings } from './verdict.ts';

/**
 * Identity documents, selfies and proofs of address. A passport, licence or permit has an expiry date; an identity
 * card may have none. The back side is checked where it is given.
 */
export function checkDocument(data: CustomerData, context: DataContext, found: Findings): CustomerData {
  if (data.idDocument) return { idDocument: checkIdDocument(data.idDocument, context, found) };
  if (data.selfie) {
    const { bytes, hash } = checkFile(
      { at: 'selfie.image', hashAt: 'selfie.imageHash', bytes: data.selfie.image, hash: data.selfie.imageHash },
      found,
    );
    return { selfie: { image: bytes, imageHash: hash } };
  }
  const { file = '', fileHash = '', country = '' } = data.proofOfAddress ?? {};
  const { bytes, hash } = checkFile(
    { at: 'proofOfAddress.file', hashAt: 'proofOfAddress.fileHash', bytes: file, hash: fileHash },
    found,
  );
  return {
    proofOfAddress: {
      file: bytes,
      fileHash: hash,
      country: found.take('proofOfAddress.country', countryAlpha3(country)),
    },
  };
}

type IdDocument = NonNullable<CustomerData['idDocument']>;

function checkIdDocument(document: IdDocument, context: DataContext, found: Findings): IdDocument {
  const front = checkSide(document, 'frontSideImage', found);
  const hasBack = document.backSideImage !== undefined || document.backSideImageHash !== undefined;
  const back = hasBack ? checkSide(document, 'backSideImage', found) : null;
  const expiry = document.expiryDate;
  if (expiry === undefined && document.documentType !== 'ID_CARD') {
    found.wrong('idDocument.expiryDate', 'is missing.');
  }
  return {
    documentType: document.documentType,
    documentNumber: found.take('idDocument.documentNumber', documentNumber(document.documentNumber)),
    issuingCountry: found.take('idDocument.issuingCountry', countryAlpha3(document.issuingCountry)),
    ...(expiry !== undefined && { expiryDate: found.take('idDocument.expiryDate', expiryDate(expiry, context)) }),
    frontSideImage: front.bytes,
    frontSideImageHash: front.hash,
    ...(back && { backSideImage: back.bytes, backSideImageHash: back.hash }),
  };
}

const checkSide = (document: IdDocument, side: 'frontSideImage' | 'backSideImage', found: Findings) =>
  checkFile(
    {
      at: `idDocument.${side}`,
      hashAt: `idDocument.${side}Hash`,
      bytes: document[side],
      hash: document[`${side}Hash`],
    },
    found,
  );

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
function checkFile(field: FileField, found: Findings): { bytes: string; hash: string } {
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
