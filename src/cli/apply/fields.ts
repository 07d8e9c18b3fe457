/** The fields of UpdateOrder that a row can give, and the names that a file may call them by. */

/** Field names of `depositInstructions`; the last three are the specification's sample's (CONTRACT, section 11). */
export const DEPOSIT_FIELDS = [
  'paymentMethod',
  'network',
  'amount',
  'currency',
  'fromAddress',
  'toAddress',
  'depositMessage',
  'bankName',
  'bankAddress',
  'bankRoutingNumber',
  'bankAccountNumber',
  'bankBeneficiaryName',
  'bankBeneficiaryAddress',
  'iban',
  'bic',
  'clabe',
  'accountHolderName',
  'blockchainMemo',
  'accountNumber',
  'routingNumber',
  'reference',
] as const;

export const RETURN_FIELDS = ['reason', 'refundReferenceId'] as const;

export const PLAIN_FIELDS = [
  'orderId',
  'status',
  'sourceTransactionId',
  'destinationTransactionId',
  'reason',
  'customerFacingReason',
  'toAmount',
] as const;

const GROUPS = { depositInstructions: DEPOSIT_FIELDS, returnDetails: RETURN_FIELDS } as const;

/** Where a value goes: `orderId`, `returnDetails.reason`, … */
export type FieldPath = string;

export const FIELD_PATHS: readonly FieldPath[] = [
  ...PLAIN_FIELDS,
  ...Object.entries(GROUPS).flatMap(([group, fields]) => fields.map((field) => `${group}.${field}`)),
];

const squashed = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');
const BY_NAME: ReadonlyMap<string, FieldPath> = new Map(FIELD_PATHS.map((path) => [squashed(path), path]));

/** The field that a name stands for, in camelCase, snake_case or kebab-case; null for one that is not known. */
export const fieldNamed = (name: string): FieldPath | null => BY_NAME.get(squashed(name)) ?? null;

const GROUP_NAMES = new Map(Object.keys(GROUPS).map((name) => [squashed(name), name]));

/** `depositInstructions` or `returnDetails`, by any of their names. */
export const groupNamed = (name: string): string | null => GROUP_NAMES.get(squashed(name)) ?? null;
