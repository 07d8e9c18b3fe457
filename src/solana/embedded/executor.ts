import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type {
  Account,
  FailedTransactionMetadata,
  FeatureSet,
  LiteSvm,
  TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { type ChainAccount, COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from '../cluster.ts';
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM } from '../token.ts';
import type { InnerInstructions } from './meta.ts';
import { nonceSwap } from './nonce.ts';
import { isWritable, type ParsedTransaction } from './parse.ts';
import errors from './runtime-errors.json' with { type: 'json' };
import { epochOf, type LedgerTime, MOVING_SYSVARS, SYSVAR_OWNER } from './slot-clock.ts';

export const NATIVE_LOADER = 'NativeLoader1111111111111111111111111111111' as Address;

export interface Execution {
  readonly err: RuntimeError | null;
  readonly logs: readonly string[];
  readonly unitsConsumed: number;
  readonly innerInstructions: readonly InnerInstructions[];
  readonly returnData: { readonly programId: string; readonly data: string } | null;
  /** In the transaction's order; null where there is no account. */
  readonly accountsAfter: readonly (ChainAccount | null)[];
}

interface ReadAccount {
  (address: Address): (ChainAccount & { readonly slot: number }) | null;
  slotOf(address: Address): number | null;
}

/** Runs transactions over accounts that the ledger hands in, without state of its own. */
export type Executor = Awaited<ReturnType<typeof openExecutor>>;

/** Uses LiteSVM's internal module, as its public one compiles every SPL program and brings a second kit. */
export async function openExecutor(hashOf: (slot: number) => Uint8Array) {
  const { LiteSvm, FeatureSet, Account, Clock, FailedTransactionMetadata } = await import('litesvm/dist/internal.js');
  const machine = bareMachine(LiteSvm.default(), FeatureSet.allEnabled());

  /** The row version from which each program was compiled. */
  const compiled = new Map<Address, string>();
  const put = (key: Uint8Array, account: ChainAccount | null) =>
    machine.setAccount(
      key,
      new Account(
        account?.lamports ?? 0n,
        account?.data ?? new Uint8Array(),
        bs58.decode(account?.owner ?? SYSTEM_PROGRAM),
        account?.executable ?? false,
        0n,
      ),
    );
  const load = (address: Address, key: Uint8Array, read: ReadAccount) => {
    const account = read(address);
    if (account?.owner === NATIVE_LOADER || account?.owner === SYSVAR_OWNER) return account;
    if (account?.executable) {
      const code = programDataAddress(account);
      const version = versionOf(account, code, read);
      if (compiled.get(address) === version) return account;
      // The code's account has to be loaded before its upgradeable program.
      if (code) put(bs58.decode(code), read(code));
      compiled.set(address, version);
    }
    // Absent accounts too: an earlier transaction may have left one in the machine.
    put(key, account);
    return account;
  };
  let preparedSlot = -1;
  const prepare = (transaction: ParsedTransaction, readStored: ReadAccount, time: LedgerTime) => {
    const epoch = epochOf(time.slot);
    machine.setClock(new Clock(BigInt(time.slot), 0n, epoch, epoch + 1n, BigInt(time.unixTime)));
    const swap = swapFor(transaction, time);
    const swapped = (address: Address) => {
      const stored = readStored(address);
      return stored && { ...swap(stored), slot: stored.slot };
    };
    const read: ReadAccount = Object.assign(swapped, { slotOf: readStored.slotOf });
    for (const { table } of transaction.lookups) put(bs58.decode(table), read(table));
    const loaded = transaction.keyBytes.map((key, index) => load(addressOf(transaction, index), key, read));
    if (preparedSlot !== time.slot && mayReadSlots(transaction, loaded)) {
      for (const one of MOVING_SYSVARS) put(bs58.decode(one), readStored(one));
      preparedSlot = time.slot;
    }
    return loaded;
  };
  const swapFor = (transaction: ParsedTransaction, time: LedgerTime) =>
    nonceSwap(hashOf(time.slot), transaction.blockhash);

  return {
    /** Executes, charging the payer for a failure too. */
    execute(transaction: ParsedTransaction, read: ReadAccount, time: LedgerTime): Execution {
      prepare(transaction, read, time);
      const swap = swapFor(transaction, time);
      const result = send(machine, transaction);
      const failed = result instanceof FailedTransactionMetadata;
      // Writable programs are loaded afresh next time, because this run may still be rolled back.
      transaction.accountKeys.forEach((address, index) => {
        if (isWritable(transaction, index)) compiled.delete(address);
      });
      return {
        err: failed ? runtimeError(result.err()) : null,
        ...report(failed ? result.meta() : result),
        accountsAfter: transaction.keyBytes.map((key, index) => {
          const account = machine.getAccount(key);
          return account && swap(chainAccount(addressOf(transaction, index), account));
        }),
      };
    },
    /** Executes without keeping the changes. */
    simulate(transaction: ParsedTransaction, read: ReadAccount, time: LedgerTime): Execution {
      const swap = swapFor(transaction, time);
      const before = prepare(transaction, read, time).map((account) => account && swap(account));
      const result = simulate(machine, transaction);
      if (result instanceof FailedTransactionMetadata) {
        return { err: runtimeError(result.err()), ...report(result.meta()), accountsAfter: before };
      }
      const changed = result
        .postAccounts()
        .map((one) => swap(chainAccount(bs58.encode(one.address) as Address, one.account())));
      return { err: null, ...report(result.meta()), accountsAfter: accountsAfter(transaction, before, changed) };
    },
  };
}

/** Programs that read no slot but the clock's, and call only each other. */
const SLOTLESS: ReadonlySet<string> = new Set([
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
]);

/** True if a transaction may read hashes of earlier slots: making all 662 takes 3 ms. */
const mayReadSlots = ({ accountKeys, lookups }: ParsedTransaction, loaded: readonly (ChainAccount | null)[]): boolean =>
  lookups.length > 0 ||
  accountKeys.some(
    (address, index) =>
      MOVING_SYSVARS.includes(address) || (loaded[index]?.executable === true && !SLOTLESS.has(address)),
  );

const send = (machine: LiteSvm, { wire, version }: ParsedTransaction) =>
  version === 'legacy' ? machine.sendLegacyTransaction(wire) : machine.sendVersionedTransaction(wire);

const simulate = (machine: LiteSvm, { wire, version }: ParsedTransaction) =>
  version === 'legacy' ? machine.simulateLegacyTransaction(wire) : machine.simulateVersionedTransaction(wire);

function bareMachine(machine: LiteSvm, features: FeatureSet): LiteSvm {
  machine.setFeatureSet(features);
  machine.setBuiltins();
  machine.setSysvars();
  machine.setPrecompiles();
  // The ledger itself verifies signatures, blockhashes and that a signature lands once.
  machine.setSigverify(false);
  machine.setBlockhashCheck(false);
  machine.setTransactionHistory(0n);
  return machine;
}

/** The changed accounts, and the others as they were. */
function accountsAfter(
  { accountKeys }: ParsedTransaction,
  before: readonly (ChainAccount | null)[],
  changed: readonly ChainAccount[],
): (ChainAccount | null)[] {
  const byAddress = new Map(changed.map((account) => [account.address, account]));
  return accountKeys.map((address, index) => {
    const account = byAddress.get(address) ?? before[index] ?? null;
    return account?.lamports === 0n ? null : account;
  });
}

/** Reads the address of an upgradeable program's code: the 32 bytes after its tag. */
export function programDataAddress(account: ChainAccount): Address | null {
  if (!account.executable || account.owner !== UPGRADEABLE_LOADER || account.data.length < 36) return null;
  return bs58.encode(account.data.subarray(4, 36)) as Address;
}

/** An upgrade leaves the program's own row as it was, so the version includes the code's row. */
const versionOf = (program: { readonly slot: number }, code: Address | null, read: ReadAccount): string =>
  `${program.slot} ${code && read.slotOf(code)}`;

const addressOf = (transaction: ParsedTransaction, index: number): Address =>
  transaction.accountKeys[index] ?? SYSTEM_PROGRAM;

export const chainAccount = (address: Address, account: Account): ChainAccount => ({
  address,
  lamports: account.lamports(),
  owner: bs58.encode(account.owner()) as Address,
  data: new Uint8Array(account.data()),
  executable: account.executable(),
});

function report(meta: TransactionMetadata): Omit<Execution, 'err' | 'accountsAfter'> {
  const returned = meta.returnData();
  return {
    logs: meta.logs(),
    unitsConsumed: Number(meta.computeUnitsConsumed()),
    innerInstructions: meta
      .innerInstructions()
      .map((inner, index) => ({ index, instructions: inner.map(innerInstruction) }))
      .filter(({ instructions }) => instructions.length > 0),
    returnData:
      returned.data().length === 0
        ? null
        : { programId: bs58.encode(returned.programId()), data: Buffer.from(returned.data()).toString('base64') },
  };
}

function innerInstruction(inner: ReturnType<TransactionMetadata['innerInstructions']>[number][number]) {
  const instruction = inner.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: bs58.encode(instruction.data()),
    stackHeight: inner.stackHeight(),
  };
}

/** A runtime error in JSON-RPC's form, such as `{ "InstructionError": [2, { "Custom": 1 }] }`. */
type RuntimeError = string | { readonly [kind: string]: unknown };

type LiteSvmError = ReturnType<FailedTransactionMetadata['err']>;

/** Names an error by its number in LiteSVM's enumerations, which are ambient: without names at run time. */
function runtimeError(error: LiteSvmError): RuntimeError {
  if (typeof error === 'number') return errors.transaction[error] ?? 'ClusterMaintenance';
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
  if (typeof error === 'number') return errors.instruction[error] ?? 'GenericError';
  return 'code' in error ? { Custom: error.code } : { BorshIoError: error.msg };
}
