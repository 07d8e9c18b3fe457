/** The fields of UpdateOrder, for the service that reads them and the tool that reads them from files. */

/** Field names of DepositInstructions (spec/partner-service.md). */
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
] as const;

/** Names of the specification's sample for three of the fields (CONTRACT, section 11). */
export const DEPOSIT_SYNONYMS = {
  accountNumber: 'bankAccountNumber',
  routingNumber: 'bankRoutingNumber',
  reference: 'depositMessage',
} as const satisfies Readonly<Record<string, (typeof DEPOSIT_FIELDS)[number]>>;

export const RETURN_FIELDS = ['reason', 'refundReferenceId'] as const;

/** Most characters of each kind of text. */
export const MOST = { id: 100, reference: 200, deposit: 500, words: 1000 } as const;
