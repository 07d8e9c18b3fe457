import type { Address } from '@solana/kit';
import { once } from '../../kernel/once.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { ChainAccount } from '../cluster.ts';
import { refused } from '../transaction.ts';
import { type Execution, type Executor, openExecutor } from './executor.ts';
import type { LandedTransaction, LedgerFile } from './ledger-file.ts';
import { feeOf, lamportsOf, tokenBalancesOf } from './meta.ts';
import { advanced } from './nonce.ts';
import { isWritable, lookedUp, type ParsedTransaction, parseTransaction, wrongSignatures } from './parse.ts';
import { BLOCKHASH_SLOTS, createSysvars, type LedgerTime, type SlotClock, SYSVAR_OWNER } from './slot-clock.ts';

/** The ledger behind the embedded cluster and its JSON-RPC. Reads are synchronous and never load the executor. */
export type EmbeddedLedger = ReturnType<typeof createLedger>;

export function createLedger(file: LedgerFile, clock: SlotClock) {
  const { landed } = file.reads;
  const executor = once(() => openExecutor(clock.hash));
  const sysvars = createSysvars(clock);
  const account = (address: Address) => {
    const row = file.account(address);
    const moving = row?.owner === SYSVAR_OWNER ? sysvars(address, clock.peek()) : null;
    return row && moving ? { ...row, data: moving } : row;
  };
  const read = Object.assign(account, { slotOf: file.slotOf });
  const latest = () => {
    const { slot } = clock.advance();
    return { slot, blockhash: clock.blockhash(slot), lastValidBlockHeight: slot + BLOCKHASH_SLOTS };
  };

  const land = (machine: Executor, parsed: ParsedTransaction, skipPreflight: boolean) => {
    const known = landed(parsed.signature);
    if (known) return known;
    const time = clock.advance();
    const nonce = advanced(parsed, read, clock.hash(time.slot));
    if (!nonce && clock.slotOfBlockhash(parsed.blockhash, time.slot) === null) {
      throw refused('BlockhashNotFound', 'its blockhash has expired or never was');
    }
    const transaction = lookedUp(parsed, read, time.slot);
    const before = transaction.accountKeys.map(read);
    const execution = withNonce(machine.execute(transaction, read, time), nonce);
    if (execution.err !== null && !(skipPreflight && wasCharged(before, execution))) {
      throw refused(execution.err, explain(execution.err), execution.logs);
    }
    const changed: ChainAccount[] = [];
    execution.accountsAfter.forEach((account, index) => {
      const address = transaction.accountKeys[index];
      if (!address || !isWritable(transaction, index)) return;
      if (!account || account.lamports === 0n) file.removeAccount(address);
      else if (!sameAccount(account, before[index])) changed.push(account);
    });
    file.putAccounts(changed, time.slot);
    return file.addTransaction(recordOf(transaction, time, execution, before, read), transaction);
  };
  const landings = createLandings(file);

  return {
    ...file.reads,
    account,
    now: clock.advance,
    peek: clock.peek,
    timeOfSlot: clock.timeOfSlot,
    blockhash: clock.blockhash,
    latest,
    isBlockhashValid: (blockhash: string): boolean => clock.slotOfBlockhash(blockhash, clock.advance().slot) !== null,
    /** Waits for the disk, so that a power cut cannot take what was answered. */
    onDisk: () => file.disk.ofWhatWasRead(),

    /** Executes and keeps a transaction; `skipPreflight` lands failures too. Landed bytes get their first answer. */
    async submit(
      wire: Uint8Array,
      { skipPreflight = false }: { readonly skipPreflight?: boolean } = {},
    ): Promise<LandedTransaction> {
      const transaction = parseTransaction(wire);
      requireSignatures(transaction);
      const machine = await executor();
      return landings.add(() => land(machine, transaction, skipPreflight));
    },

    /** @throws Problem `transaction_failed` for unreadable bytes, or a wrong signature if `verifySignatures` */
    async tryOut(
      wire: Uint8Array,
      {
        verifySignatures = false,
        replaceBlockhash = false,
      }: { verifySignatures?: boolean; replaceBlockhash?: boolean } = {},
    ) {
      const parsed = parseTransaction(wire);
      if (verifySignatures) requireSignatures(parsed);
      const machine = await executor();
      let newest: ReturnType<typeof latest> | undefined;
      return file.snapshot(() => {
        // Taken in the first run alone: a second is in a reading transaction, which cannot store the blockhash.
        newest ??= latest();
        const { slot: now } = newest;
        const time = clock.peek();
        const transaction = lookedUp(parsed, read, time.slot);
        const isAlive = () =>
          replaceBlockhash ||
          clock.slotOfBlockhash(parsed.blockhash, now) !== null ||
          advanced(parsed, read, clock.hash(time.slot)) !== null;
        const why = landed(transaction.signature) ? 'AlreadyProcessed' : isAlive() ? null : 'BlockhashNotFound';
        const execution = why ? notRun(why, transaction, read) : machine.simulate(transaction, read, time);
        const replacement = replaceBlockhash ? newest : null;
        return { ...execution, transaction, slot: now, fee: feeOf(transaction), replacement };
      });
    },
  };
}

type ReadAccount = (address: Address) => ChainAccount | null;

/** A simulation refused before it runs. */
const notRun = (err: string, { accountKeys }: ParsedTransaction, read: ReadAccount): Execution => ({
  ...{ err, logs: [], unitsConsumed: 0, innerInstructions: [], returnData: null },
  accountsAfter: accountKeys.map(read),
});

function recordOf(
  transaction: ParsedTransaction,
  { slot, unixTime }: LedgerTime,
  execution: Execution,
  before: readonly (ChainAccount | null)[],
  read: ReadAccount,
): Parameters<LedgerFile['addTransaction']>[0] {
  const { err, innerInstructions, logs, unitsConsumed, returnData, accountsAfter } = execution;
  const { signature, wire, loaded, lookups } = transaction;
  return {
    ...{ signature, slot, blockTime: unixTime, err, wire },
    meta: {
      fee: String(feeOf(transaction)),
      preBalances: lamportsOf(before),
      postBalances: lamportsOf(accountsAfter),
      preTokenBalances: tokenBalancesOf(before, read),
      postTokenBalances: tokenBalancesOf(accountsAfter, read),
      ...{ innerInstructions, logs, unitsConsumed, returnData },
      ...(lookups.length === 0 ? {} : { loadedAddresses: loaded }),
    },
  };
}

/** Keeps the advanced nonce of a failed transaction, which could otherwise be sent again and again. */
function withNonce(execution: Execution, nonce: ChainAccount | null): Execution {
  if (execution.err === null || nonce === null) return execution;
  const accountsAfter = execution.accountsAfter.map((account) =>
    account?.address === nonce.address ? { ...nonce, lamports: account.lamports } : account,
  );
  return { ...execution, accountsAfter };
}

function requireSignatures(transaction: ParsedTransaction): void {
  const wrong = wrongSignatures(transaction);
  if (wrong.length > 0) {
    throw refused('SignatureFailure', `a signature is missing or wrong: ${wrong.join(', ')}`);
  }
}

/** Only transactions past the loading stage pay and land. */
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

/** Words a runtime error for a person. */
export const explain = (error: unknown): string => (typeof error === 'string' ? error : JSON.stringify(error));

interface Waiting {
  land(): LandedTransaction;
  resolve(landed: LandedTransaction): void;
  reject(error: unknown): void;
}

/** Lands transactions sent at the same moment in one write, so that they wait for the disk once. */
function createLandings(file: Pick<LedgerFile, 'write' | 'disk'>) {
  let waiting: Waiting[] = [];

  function landAll(): void {
    const due = waiting;
    waiting = [];
    const done: { tell(): void; reject(error: unknown): void }[] = [];
    try {
      file.write(() => {
        for (const one of due) {
          try {
            const result = one.land();
            done.push({ tell: () => one.resolve(result), reject: one.reject });
          } catch (error) {
            // Refusals come before any write; other errors are the file's.
            if (!isProblem(error, 'transaction_failed')) throw error;
            one.reject(error);
          }
        }
      });
    } catch (error) {
      for (const { reject } of due) reject(error);
      return;
    }
    file.disk.sync().then(
      () => {
        for (const { tell } of done) tell();
      },
      (error) => {
        for (const { reject } of done) reject(error);
      },
    );
  }

  return {
    add: (land: Waiting['land']): Promise<LandedTransaction> =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(landAll);
        waiting.push({ land, resolve, reject });
      }),
  };
}
