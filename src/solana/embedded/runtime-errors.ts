import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';

/**
 * A runtime error in the form that a real cluster's JSON-RPC has: `"AccountNotFound"`,
 * `{ "InstructionError": [2, { "Custom": 1 }] }`, `{ "InsufficientFundsForRent": { "account_index": 1 } }`.
 */
export type RuntimeError = string | { readonly [kind: string]: unknown };

type LiteSvmError = ReturnType<FailedTransactionMetadata['err']>;

export function runtimeError(error: LiteSvmError): RuntimeError {
  if (typeof error === 'number') return TRANSACTION_ERRORS[error] ?? 'ClusterMaintenance';
  if ('err' in error) return { InstructionError: [error.index, instructionError(error.err())] };
  if ('accountIndex' in error) {
    // LiteSVM's two errors that name an account differ in their class alone.
    const kind = error.constructor.name.replace('TransactionError', '');
    return { [kind]: { account_index: error.accountIndex } };
  }
  return { DuplicateInstruction: error.index };
}

type LiteSvmInstructionError = ReturnType<Extract<LiteSvmError, { err(): unknown }>['err']>;

function instructionError(error: LiteSvmInstructionError): RuntimeError {
  if (typeof error === 'number') return INSTRUCTION_ERRORS[error] ?? 'GenericError';
  return 'code' in error ? { Custom: error.code } : { BorshIoError: error.msg };
}

// In the order of LiteSVM's enumerations, which are ambient and have no names at run time.
const TRANSACTION_ERRORS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
];

const INSTRUCTION_ERRORS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
];
