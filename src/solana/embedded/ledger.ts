import type { Address, Signature } from '@solana/kit';
import { once } from '../../kernel/once.ts';
import type { ChainAccount } from '../cluster.ts';
import { CLOCK_SYSVAR, type Execution, type Executor, openExecutor } from './executor.ts';
import { feeOf } from './fee.ts';
import type { LandedTransaction, LedgerFile } from './ledger-file.ts';
import { lamportsOf, tokenBalancesOf } from './meta.ts';
import { isWritable, type ParsedTransaction, parseTransaction, refused, wrongSignatures } from './parse.ts';
import { BLOCKHASH_SLOTS, epochOf, type LedgerTime, type SlotClock } from './slot-clock.ts';

interface SimulationReport extends Execution {
  readonly transaction: ParsedTransaction;
  readonly slot: number;
  readonly fee: bigint;
  /** The blockhash that took the place of the transaction's own, when that was asked for. */
  readonly replacement: { readonly blockhash: string; readonly lastValidBlockHeight: number } | null;
}

/** The ledger as the embedded cluster and its JSON-RPC use it. Reads are synchronous and never load the executor. */
export interface EmbeddedLedger {
  /** The time now; see SlotClock. */
  now(): LedgerTime;
  peek(): LedgerTime;
  latest(): { readonly blockhash: string; readonly lastValidBlockHeight: number; readonly slot: number };
  isBlockhashValid(blockhash: string): boolean;
  timeOfSlot(slot: number): number;
  account(address: Address): ChainAccount | null;
  accountsPage: LedgerFile['accountsPage'];
  landed(signature: string): LandedTransaction | null;
  landing: LedgerFile['landing'];
  transactionsNaming: LedgerFile['transactionsNaming'];
  transactionCount(): number;
  /**
   * Executes and keeps a transaction. With `skipPreflight` one that fails lands too and pays its fee, as on a real
   * cluster; otherwise it is refused and leaves nothing. Known bytes are answered as they were the first time.
   * @throws Problem `transaction_failed` when nothing landed.
   */
  submit(wire: Uint8Array, options?: { readonly skipPreflight?: boolean }): Promise<LandedTransaction>;
  /** @throws Problem `transaction_failed` when the bytes are no transaction, or a signature is wrong and asked for. */
  tryOut(
    wire: Uint8Array,
    options?: { readonly verifySignatures?: boolean; readonly replaceBlockhash?: boolean },
  ): Promise<SimulationReport>;
}

export function createLedger(file: LedgerFile, clock: SlotClock): EmbeddedLedger {
  const executor = once(openExecutor);
  const account = (address: Address) => {
    const row = file.account(address);
    if (row?.address !== CLOCK_SYSVAR) return row;
    return { ...row, data: clockSysvar(clock.peek()) };
  };
  const read = Object.assign(account, { slotOf: file.slotOf });
  const latest = () => {
    const { slot } = clock.advance();
    return { slot, blockhash: clock.blockhash(slot), lastValidBlockHeight: slot + BLOCKHASH_SLOTS };
  };

  const land = (machine: Executor, transaction: ParsedTransaction, skipPreflight: boolean) => {
    const known = file.transaction(transaction.signature);
    if (known) return known;
    const time = clock.advance();
    if (clock.slotOfBlockhash(transaction.blockhash, time.slot) === null) {
      throw refused('BlockhashNotFound', 'its blockhash has expired or never was');
    }
    const before = transaction.accountKeys.map(read);
    const execution = machine.execute(transaction, read, time);
    if (execution.err !== null && !(skipPreflight && wasCharged(before, execution))) {
      throw refused(execution.err, explain(execution.err), execution.logs);
    }
    execution.accountsAfter.forEach((account, index) => {
      const address = transaction.accountKeys[index];
      if (!address || !isWritable(transaction, index)) return;
      if (!account || account.lamports === 0n) file.removeAccount(address);
      else if (!sameAccount(account, before[index])) file.putAccount(account, time.slot);
    });
    file.addTransaction(recordOf(transaction, time, execution, before, read), transaction);
    return landedOrLost(file, transaction.signature);
  };

  return {
    now: () => clock.advance(),
    peek: () => clock.peek(),
    latest,
    isBlockhashValid: (blockhash) => clock.slotOfBlockhash(blockhash, clock.advance().slot) !== null,
    timeOfSlot: (slot) => clock.timeOfSlot(slot),
    account,
    accountsPage: file.accountsPage,
    landed: (signature) => file.transaction(signature),
    landing: file.landing,
    transactionsNaming: file.transactionsNaming,
    transactionCount: () => file.transactionCount(),

    async submit(wire, { skipPreflight = false } = {}) {
      const transaction = parseTransaction(wire);
      requireSignatures(transaction);
      const known = file.transaction(transaction.signature);
      if (known) return known;
      const machine = await executor();
      return file.write(() => land(machine, transaction, skipPreflight));
    },

    async tryOut(wire, { verifySignatures = false, replaceBlockhash = false } = {}) {
      const transaction = parseTransaction(wire);
      if (verifySignatures) requireSignatures(transaction);
      const machine = await executor();
      // A blockhash is kept before it is handed out, which a read-only transaction could not do.
      const newest = latest();
      return file.snapshot(() => {
        const fail = (err: string): Execution => ({
          err,
          logs: [],
          unitsConsumed: 0,
          innerInstructions: [],
          returnData: null,
          accountsAfter: transaction.accountKeys.map(read),
        });
        const execution = file.transaction(transaction.signature)
          ? fail('AlreadyProcessed')
          : replaceBlockhash || clock.slotOfBlockhash(transaction.blockhash, newest.slot) !== null
            ? machine.simulate(transaction, read, clock.peek())
            : fail('BlockhashNotFound');
        const replacement = replaceBlockhash ? newest : null;
        return { ...execution, transaction, slot: newest.slot, fee: feeOf(transaction), replacement };
      });
    },
  };
}

type ReadAccount = (address: Address) => ChainAccount | null;

/** The record of a transaction that landed. */
function recordOf(
  transaction: ParsedTransaction,
  { slot, unixTime }: LedgerTime,
  execution: Execution,
  before: readonly (ChainAccount | null)[],
  read: ReadAccount,
): Parameters<LedgerFile['addTransaction']>[0] {
  const { err, innerInstructions, logs, unitsConsumed, returnData, accountsAfter } = execution;
  const { signature, wire } = transaction;
  return {
    ...{ signature, slot, blockTime: unixTime, err, wire },
    meta: {
      fee: String(feeOf(transaction)),
      preBalances: lamportsOf(before),
      postBalances: lamportsOf(accountsAfter),
      preTokenBalances: tokenBalancesOf(before, read),
      postTokenBalances: tokenBalancesOf(accountsAfter, read),
      ...{ innerInstructions, logs, unitsConsumed, returnData },
    },
  };
}

/** The clock account as programs and clients read it; the executor keeps one of its own. */
function clockSysvar({ slot, unixTime }: LedgerTime): Uint8Array {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigUInt64LE(epochOf(slot), 16);
  data.writeBigUInt64LE(epochOf(slot) + 1n, 24);
  data.writeBigInt64LE(BigInt(unixTime), 32);
  return new Uint8Array(data);
}

function requireSignatures(transaction: ParsedTransaction): void {
  const wrong = wrongSignatures(transaction);
  if (wrong.length > 0) {
    throw refused('SignatureFailure', `a signature is missing or wrong: ${wrong.join(', ')}`);
  }
}

/** Only what passed the loading stage pays and lands; the rest never was on the chain. */
function wasCharged(before: readonly (ChainAccount | null)[], execution: Execution): boolean {
  return (execution.accountsAfter[0]?.lamports ?? 0n) < (before[0]?.lamports ?? 0n);
}

const sameAccount = (a: ChainAccount, b: ChainAccount | null | undefined): boolean =>
  b !== null &&
  b !== undefined &&
  a.lamports === b.lamports &&
  a.owner === b.owner &&
  a.executable === b.executable &&
  Buffer.compare(a.data, b.data) === 0;

function landedOrLost(file: LedgerFile, signature: Signature): LandedTransaction {
  const landed = file.transaction(signature);
  if (!landed) throw new Error('the transaction that was just written is not there');
  return landed;
}

/** The runtime's error as a person reads it. */
export const explain = (error: unknown): string =>
  typeof error === 'string' ? error : JSON.stringify(error);
