import type { Address } from '@solana/kit';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import { lamportsOf, tokenBalancesOf } from '../embedded/meta.ts';
import { createMeter } from './cost.ts';
import { encodeAccount } from './encode-account.ts';
import { encodeInner, encodeReturnData, encodeTokenBalance } from './encode-transaction.ts';
import type { AccountEncoding } from './params.ts';
import { invalidParams } from './wire.ts';

interface SimulationOptions {
  readonly sigVerify?: boolean | null | undefined;
  readonly replaceRecentBlockhash?: boolean | null | undefined;
  readonly innerInstructions?: boolean | null | undefined;
  readonly accounts?:
    | {
        readonly addresses: readonly Address[];
        readonly encoding?: AccountEncoding | null | undefined;
      }
    | null
    | undefined;
}

/** Simulates a transaction now, in the form of simulateTransaction. */
export async function simulation(ledger: EmbeddedLedger, wire: Uint8Array, options: SimulationOptions) {
  const report = await ledger.tryOut(wire, {
    verifySignatures: options.sigVerify ?? false,
    replaceBlockhash: options.replaceRecentBlockhash ?? false,
  });
  const { transaction, accountsAfter } = report;
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
    innerInstructions: options.innerInstructions
      ? encodeInner(report.innerInstructions, transaction, true)
      : null,
    fee: report.fee,
    loadedAccountsDataSize: before.reduce((size, account) => size + (account?.data.length ?? 0), 0),
    loadedAddresses: transaction.loaded,
    preBalances: lamportsOf(before).map(BigInt),
    postBalances: lamportsOf(accountsAfter).map(BigInt),
    preTokenBalances: tokenBalancesOf(before, ledger.account).map(encodeTokenBalance),
    postTokenBalances: tokenBalancesOf(accountsAfter, ledger.account).map(encodeTokenBalance),
    ...(report.replacement
      ? {
          replacementBlockhash: {
            blockhash: report.replacement.blockhash,
            lastValidBlockHeight: report.replacement.lastValidBlockHeight,
          },
        }
      : {}),
  };
}
