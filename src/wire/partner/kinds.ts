import type { ProblemCode } from '../../kernel/problems.ts';

/** The names that compliance uses (spec/partner-service.md, Data types, Attestation types and Customer data). */

/** The data types, each with its key in a CustomerData object. */
export const DATA_KEYS = {
  EMAIL: 'email',
  PHONE: 'phone',
  NAME: 'name',
  ID_DOCUMENT: 'idDocument',
  OCCUPATION: 'occupation',
  BANK_ACCOUNT: 'bankAccount',
  SELFIE: 'selfie',
  BIRTH_DATE: 'birthDate',
  NATIONALITY: 'nationality',
  TAX_ID: 'taxId',
  CRYPTO_WALLET: 'cryptoWallet',
  RESIDENTIAL_ADDRESS: 'residentialAddress',
  INTERMEDIARY: 'intermediary',
  EMPLOYMENT_STATUS: 'employmentStatus',
  ACCOUNT_PURPOSE: 'accountPurpose',
  EXPECTED_MONTHLY_PAYMENTS: 'expectedMonthlyPayments',
  SOURCE_OF_FUNDS: 'sourceOfFunds',
  LAST_OCCUPATION: 'lastOccupation',
  PROOF_OF_ADDRESS: 'proofOfAddress',
} as const;

export type DataType = keyof typeof DATA_KEYS;
export const DATA_TYPES = Object.keys(DATA_KEYS) as readonly DataType[];

export const ATTESTATION_TYPES = [
  'VALIDATED_EMAIL',
  'VALIDATED_PHONE',
  'VALIDATED_ID_DOCUMENT',
  'LIVENESS_CHECK',
  'AML_CHECK',
  'TERMS',
  'VALIDATED_CRYPTO_WALLET',
] as const;
export type AttestationType = (typeof ATTESTATION_TYPES)[number];

/**
 * The codes of Connect's unary errors (CONTRACT, section 10), `{ code, message, detail }`, so that a stock client
 * understands them. Our own code is `detail.reason`. No field is named `details`, because Connect gives that a meaning.
 */
export const CONNECT_CODES = [
  'invalid_argument',
  'failed_precondition',
  'unauthenticated',
  'permission_denied',
  'not_found',
  'aborted',
  'unimplemented',
  'resource_exhausted',
  'internal',
  'unavailable',
] as const;
export type ConnectCode = (typeof CONNECT_CODES)[number];

export interface ConnectErrorBody {
  readonly code: ConnectCode;
  readonly message: string;
  readonly detail: { readonly reason: ProblemCode } & Readonly<Record<string, unknown>>;
}
