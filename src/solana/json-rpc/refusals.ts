import * as z from 'zod';
import { isProblem } from '../../kernel/problems.ts';
import { explain } from '../embedded/ledger.ts';
import { signatureOf } from '../transaction.ts';
import { invalidParams, JsonRpcError, SIGNATURE_VERIFICATION_FAILED, SIMULATION_FAILED } from './wire.ts';

/** Words a refusal of the ledger as the validator does. */
export function refusal(error: unknown, wire: Uint8Array, skipPreflight: boolean): string {
  if (!isProblem(error, 'transaction_failed')) throw error;
  const reason = error.detail?.error;
  switch (reason) {
    case 'SignatureFailure':
      throw new JsonRpcError(SIGNATURE_VERIFICATION_FAILED, 'Transaction signature verification failure');
    case 'SanitizeFailure':
    case 'UnsupportedVersion':
    case 'AddressLookupTableNotFound':
    case 'InvalidAddressLookupTableOwner':
    case 'InvalidAddressLookupTableData':
    case 'InvalidAddressLookupTableIndex':
      throw invalidParams(error.message);
  }
  // Without preflight nobody looks before it is forwarded: the caller learns from the status that it never landed.
  if (skipPreflight) return signatureOf(wire);
  const logs = error.detail?.logs;
  throw preflightFailure(reason, Array.isArray(logs) ? logs : []);
}

export function preflightFailure(err: unknown, logs: readonly unknown[]): JsonRpcError {
  return new JsonRpcError(SIMULATION_FAILED, `Transaction simulation failed: ${inWords(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed: 0,
  });
}

const WORDS: Readonly<Record<string, string>> = {
  BlockhashNotFound: 'Blockhash not found',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  AlreadyProcessed: 'This transaction has already been processed',
};

function inWords(err: unknown): string {
  if (typeof err === 'string') return WORDS[err] ?? err;
  const failed = z.object({ InstructionError: z.tuple([z.number(), z.unknown()]) }).safeParse(err);
  if (!failed.success) return explain(err);
  const [index, cause] = failed.data.InstructionError;
  const custom = z.object({ Custom: z.number() }).safeParse(cause);
  const reason = custom.success
    ? `custom program error: 0x${custom.data.Custom.toString(16)}`
    : explain(cause);
  return `Error processing Instruction ${index}: ${reason}`;
}
