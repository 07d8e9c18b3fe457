import { countryAlpha3, documentNumber, expiryDate } from './identity.ts';
import { checkFile } from './images.ts';
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
      {
        at: 'selfie.image',
        hashAt: 'selfie.imageHash',
        bytes: data.selfie.image,
        hash: data.selfie.imageHash,
      },
      found,
    );
    return { selfie: { image: bytes, imageHash: hash } };
  }
  const { file = '', fileHash = '', country = '' } = data.proofOfAddress ?? {};
  const { bytes, hash } = checkFile(
    {
      at: 'proofOfAddress.file',
      hashAt: 'proofOfAddress.fileHash',
      bytes: file,
      hash: fileHash,
    },
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
    ...(expiry !== undefined && {
      expiryDate: found.take('idDocument.expiryDate', expiryDate(expiry, context)),
    }),
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
