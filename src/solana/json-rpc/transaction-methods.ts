import { type Address, getBase58Encoder, getBase64Encoder } from '@solana/kit';
import * as z from 'zod';
import { isProblem } from '../../kernel/problems.ts';
import { type EmbeddedLedger, explain, lamportsOf, tokenBalancesOf } from '../embedded/index.ts';
import { MOST_TRANSACTION_BYTES, signatureOf } from '../transaction.ts';
import { createMeter, type Turns } from './cost.ts';
import { encodeAccount } from './encode-account.ts';
import { encodeInner, encodeReturnData, encodeTokenBalance, encodeTransaction } from './encode-transaction.ts';
import {
  accountEncoding,
  addressParam,
  contextOf,
  integerParam,
  invalidParams,
  JsonRpcError,
  type Method,
  method,
  minContextSlot,
  signatureParam,
} from './wire.ts';

const WORDS: Readonly<Record<string, string>> = {
  BlockhashNotFound: 'Blockhash not found',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  AlreadyProcessed: 'This transaction has already been processed',
};

const MOST_STATUSES = 256;
const MOST_SIGNATURES = 1000;

/** More accounts than a transaction names. */
const MOST_SHOWN = 64;

const PAGE = 50;

const flag = z.boolean().nullish();
const wireEncoding = z.enum(['base58', 'base64']).nullish();
export const transactionEncoding = z.enum(['json', 'jsonParsed', 'base58', 'base64', 'binary']);

export const transactionMethods = (ledger: EmbeddedLedger, turns: Turns): Record<string, Method> => ({
  sendTransaction: sendTransaction(ledger),
  simulateTransaction: simulateTransaction(ledger),
  getSignatureStatuses: getSignatureStatuses(ledger),
  getSignaturesForAddress: getSignaturesForAddress(ledger, turns),
  getTransaction: getTransaction(ledger),
});

const sendTransaction = (ledger: EmbeddedLedger) =>
  method(
    z.tuple([z.string(), z.looseObject({ encoding: wireEncoding, skipPreflight: flag, minContextSlot }).optional()]),
    async (text, options) => {
      contextOf(ledger, options);
      const wire = wireBytes(text, options?.encoding ?? 'base58');
      const skipPreflight = options?.skipPreflight ?? false;
      try {
        // Agave's preflight refuses a landed transaction; without preflight it is answered as before.
        if (!skipPreflight && ledger.landed(signatureOf(wire))) throw preflightFailure('AlreadyProcessed', []);
        const landed = await ledger.submit(wire, { skipPreflight });
        if (landed.err !== null && !skipPreflight) throw preflightFailure(landed.err, landed.meta.logs);
        return landed.signature;
      } catch (error) {
        return refusal(error, wire, skipPreflight);
      }
    },
  );

const simulationConfig = z.looseObject({
  ...{ encoding: wireEncoding, sigVerify: flag, replaceRecentBlockhash: flag, innerInstructions: flag, minContextSlot },
  accounts: z.object({ addresses: z.array(addressParam).max(MOST_SHOWN), encoding: accountEncoding }).nullish(),
});

const simulateTransaction = (ledger: EmbeddedLedger) =>
  method(z.tuple([z.string(), simulationConfig.optional()]), async (text, options) => {
    if (options?.sigVerify && options.replaceRecentBlockhash) {
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
    }
    const context = contextOf(ledger, options);
    const wire = wireBytes(text, options?.encoding ?? 'base58');
    try {
      return { context, value: await simulation(ledger, wire, options ?? {}) };
    } catch (error) {
      return refusal(error, wire, false);
    }
  });

const getSignatureStatuses = (ledger: EmbeddedLedger) =>
  method(z.tuple([z.array(signatureParam).max(MOST_STATUSES), z.looseObject({}).optional()]), (signatures) => ({
    context: contextOf(ledger),
    value: signatures.map((signature) => {
      const landed = ledger.landing(signature);
      if (!landed) return null;
      const { slot, err } = landed;
      const status = err === null ? { Ok: null } : { Err: err };
      return { slot, confirmations: null, err, status, confirmationStatus: 'finalized' };
    }),
  }));

const signature = signatureParam.nullish();
const historyConfig = z
  .looseObject({
    limit: z.int().min(1).max(MOST_SIGNATURES).nullish(),
    ...{ before: signature, until: signature, minContextSlot },
  })
  .optional();

const getSignaturesForAddress = (ledger: EmbeddedLedger, turns: Turns) =>
  method(z.tuple([addressParam, historyConfig]), async (address, options) => {
    contextOf(ledger, options);
    const before = options?.before ? ledger.landing(options.before) : undefined;
    if (before === null) return [];
    const untilSeq = (options?.until ? ledger.landing(options.until)?.seq : undefined) ?? 0;
    const most = options?.limit ?? MOST_SIGNATURES;
    const found: object[] = [];
    for (let beforeSeq = before?.seq ?? Number.MAX_SAFE_INTEGER; found.length < most; ) {
      const limit = Math.min(PAGE, most - found.length);
      const page = ledger.transactionsNaming(address, { beforeSeq, untilSeq, limit });
      found.push(...page.map(signatureShown));
      beforeSeq = page.at(-1)?.seq ?? 0;
      if (page.length < PAGE) break;
      await turns.breathe();
    }
    return found;
  });

const versionedConfig = z.looseObject({
  encoding: transactionEncoding.nullish(),
  maxSupportedTransactionVersion: integerParam.nullish(),
});

const getTransaction = (ledger: EmbeddedLedger) =>
  method(z.tuple([signatureParam, z.union([transactionEncoding, versionedConfig]).optional()]), (signature, option) => {
    const options = typeof option === 'string' ? { encoding: option } : (option ?? {});
    const landed = ledger.landed(signature);
    if (!landed) return null;
    const shown = encodeTransaction(landed, options.encoding ?? 'json');
    return shownVersioned(shown, options.maxSupportedTransactionVersion);
  });

/** Without a version the answer has the old form, which cannot show new transactions. @throws JsonRpcError */
export function shownVersioned<T extends { readonly version: 'legacy' | 0 }>(
  { version, ...shown }: T,
  most: number | null | undefined,
): object {
  if (typeof most === 'number') return { ...shown, version };
  if (version === 'legacy') return shown;
  throw new JsonRpcError(
    'unsupported_transaction_version',
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
}

function signatureShown(landed: ReturnType<EmbeddedLedger['transactionsNaming']>[number]) {
  const { signature, slot, err, memo, blockTime } = landed;
  return { signature, slot, err, memo, blockTime, confirmationStatus: 'finalized' };
}

function wireBytes(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  // Both encodings add less than half.
  if (text.length > MOST_TRANSACTION_BYTES * 1.5) {
    throw invalidParams(`${encoding} encoded transaction too large (max: ${MOST_TRANSACTION_BYTES} bytes)`);
  }
  try {
    return new Uint8Array((encoding === 'base64' ? getBase64Encoder() : getBase58Encoder()).encode(text));
  } catch {
    throw invalidParams(`invalid ${encoding} encoding`);
  }
}

/** Words a ledger's refusal as the validator does. */
function refusal(error: unknown, wire: Uint8Array, skipPreflight: boolean): string {
  if (!isProblem(error, 'transaction_failed')) throw error;
  const reason = error.detail?.error;
  switch (reason) {
    case 'SignatureFailure':
      throw new JsonRpcError('signature_verification_failed', 'Transaction signature verification failure');
    case 'SanitizeFailure':
    case 'UnsupportedVersion':
    case 'AddressLookupTableNotFound':
    case 'InvalidAddressLookupTableOwner':
    case 'InvalidAddressLookupTableData':
    case 'InvalidAddressLookupTableIndex':
      throw invalidParams(error.message);
  }
  // Without preflight the caller learns of a failure from the status alone.
  if (skipPreflight) return signatureOf(wire);
  const logs = error.detail?.logs;
  throw preflightFailure(reason, Array.isArray(logs) ? logs : []);
}

function preflightFailure(err: unknown, logs: readonly unknown[]): JsonRpcError {
  const nothing = { replacementBlockhash: null, returnData: null, unitsConsumed: 0 };
  const data = { accounts: null, err, innerInstructions: null, logs, ...nothing };
  return new JsonRpcError('simulation_failed', `Transaction simulation failed: ${inWords(err)}`, data);
}

function inWords(err: unknown): string {
  if (typeof err === 'string') return WORDS[err] ?? err;
  const failed = z.object({ InstructionError: z.tuple([z.number(), z.unknown()]) }).safeParse(err);
  if (!failed.success) return explain(err);
  const [index, cause] = failed.data.InstructionError;
  const custom = z.object({ Custom: z.number() }).safeParse(cause);
  const reason = custom.success ? `custom program error: 0x${custom.data.Custom.toString(16)}` : explain(cause);
  return `Error processing Instruction ${index}: ${reason}`;
}

async function simulation(ledger: EmbeddedLedger, wire: Uint8Array, options: z.infer<typeof simulationConfig>) {
  const report = await ledger.tryOut(wire, {
    verifySignatures: options.sigVerify ?? false,
    replaceBlockhash: options.replaceRecentBlockhash ?? false,
  });
  const { transaction, accountsAfter, replacement } = report;
  const before = transaction.accountKeys.map(ledger.account);
  const after = (address: Address) => {
    const index = transaction.accountKeys.indexOf(address);
    return (index < 0 ? null : accountsAfter[index]) ?? null;
  };
  const { addresses = [] } = options.accounts ?? {};
  const most = transaction.accountKeys.length;
  if (addresses.length > most) throw invalidParams(`Too many accounts provided; max ${most}`);
  const meter = createMeter();
  const accounts = options.accounts?.addresses.map((address) => {
    const account = after(address);
    if (!account || report.err !== null) return null;
    meter(account.data.length);
    return encodeAccount(ledger, account, { encoding: options.accounts?.encoding ?? 'base64' });
  });
  return {
    err: report.err,
    logs: report.logs,
    accounts: report.err === null ? (accounts ?? null) : null,
    unitsConsumed: report.unitsConsumed,
    returnData: report.returnData ? encodeReturnData(report.returnData) : null,
    innerInstructions: options.innerInstructions ? encodeInner(report.innerInstructions, transaction, true) : null,
    fee: report.fee,
    loadedAccountsDataSize: before.reduce((size, account) => size + (account?.data.length ?? 0), 0),
    loadedAddresses: transaction.loaded,
    preBalances: lamportsOf(before).map(BigInt),
    postBalances: lamportsOf(accountsAfter).map(BigInt),
    preTokenBalances: tokenBalancesOf(before, ledger.account).map(encodeTokenBalance),
    postTokenBalances: tokenBalancesOf(accountsAfter, ledger.account).map(encodeTokenBalance),
    ...(replacement && {
      replacementBlockhash: {
        blockhash: replacement.blockhash,
        lastValidBlockHeight: replacement.lastValidBlockHeight,
      },
    }),
  };
}
