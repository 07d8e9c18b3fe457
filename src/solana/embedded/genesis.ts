import { createHash, randomBytes } from 'node:crypto';
import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { Clock } from '../../kernel/clock.ts';
import { once } from '../../kernel/once.ts';
import { type ChainAccount, CLOCK_SYSVAR, DEVNET_USDC, SYSTEM_PROGRAM } from '../cluster.ts';
import { SBPF_V3_FEATURE } from '../loader.ts';
import { signerFromSeed } from '../signer.ts';
import { encodeMint, MINT_SIZE, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../token.ts';
import { minimumRent } from '../transaction.ts';
import { chainAccount, NATIVE_LOADER, programDataAddress } from './executor.ts';
import { ensureVersion, LEDGER_TABLES, type LedgerFile } from './ledger-file.ts';
import { LOOKUP_TABLE_PROGRAM } from './parse.ts';
import { MOVING_SYSVARS } from './slot-clock.ts';

/** A program on the ledger from its first slot that no transaction can change. */
export interface GenesisProgram {
  readonly address: Address;
  /** The shared object, read only when the ledger lacks the program. */
  readonly elf: () => Uint8Array;
  /** sha256 (hex) of the earlier bytes that these replace; other bytes stay, as they may be newer. */
  readonly replaces?: readonly string[];
}

// Below 2^53, so that every client can show it.
const FAUCET_LAMPORTS = 9_000_000n * 1_000_000_000n;

const BPF_LOADER = 'BPFLoader2111111111111111111111111111111111' as Address;

/** Makes the ledger if needed and adds or updates its programs; the write lock makes processes take turns. */
export async function ensureGenesis(
  file: LedgerFile,
  clock: Clock,
  programs: readonly GenesisProgram[],
): Promise<void> {
  if (!hasGenesis(file)) {
    const builtins = await builtinAccounts();
    file.write(() => {
      if (!hasGenesis(file)) createLedger(file, clock, builtins);
    });
  }
  ensureVersion(file);
  await ensureBuiltins(file);
  const due = () => programs.filter((program) => isDue(program, file.account(program.address)));
  if (due().length === 0) return;
  file.write(() => {
    for (const { address, elf } of due()) {
      // A new slot makes other processes compile the program again.
      const slot = file.account(address)?.slot ?? -1;
      file.putAccounts([programAccount(address, elf())], slot + 1);
    }
  });
}

/** Puts missing programs and sysvars on an older ledger, leaving its accounts alone. */
async function ensureBuiltins(file: LedgerFile): Promise<void> {
  if (file.account(NATIVE_MINT) && file.account(SBPF_V3_FEATURE)) return;
  const builtins = await builtinAccounts();
  file.write(() => {
    file.putAccounts(
      builtins.filter(({ address }) => !file.account(address)),
      0,
    );
  });
}

function isDue({ replaces = [] }: GenesisProgram, there: ChainAccount | null): boolean {
  return there === null || replaces.includes(createHash('sha256').update(there.data).digest('hex'));
}

export const hasGenesis = (file: LedgerFile): boolean =>
  file.database.prepare(`select 1 from sqlite_master where type = 'table' and name = 'ledger'`).get() !== undefined;

function createLedger(file: LedgerFile, clock: Clock, builtins: readonly ChainAccount[]): void {
  for (const statement of LEDGER_TABLES) file.database.exec(statement);
  const now = Math.floor(clock.now());
  // Play money: the faucet's key lies open in the ledger.
  const faucetSeed = randomBytes(32);
  const faucet = signerFromSeed(faucetSeed).address;
  file.database
    .prepare(`insert into ledger (id, genesis_ms, wall_ms, ledger_ms, seed, faucet_seed) values (1, ?, ?, ?, ?, ?)`)
    .run(now, now, now, randomBytes(32), faucetSeed);
  file.putAccounts(builtins, 0);
  const mint = encodeMint({ authority: faucet, decimals: 6, supply: 0n });
  const usdc = { ...plain(DEVNET_USDC, minimumRent(MINT_SIZE)), owner: TOKEN_PROGRAM, data: mint };
  file.putAccounts([usdc, plain(faucet, FAUCET_LAMPORTS)], 0);
}

const programAccount = (address: Address, data: Uint8Array): ChainAccount => ({
  ...plain(address, minimumRent(data.length)),
  ...{ owner: BPF_LOADER, data, executable: true },
});

const plain = (address: Address, lamports: bigint): ChainAccount => ({
  address,
  lamports,
  owner: SYSTEM_PROGRAM,
  data: new Uint8Array(),
  executable: false,
});

/** Reads the programs that LiteSVM carries, the first accounts of every ledger. */
const builtinAccounts = once(async (): Promise<readonly ChainAccount[]> => {
  const { LiteSvm } = await import('litesvm/dist/internal.js');
  const machine = new LiteSvm();
  machine.withNativeMints();
  const owned = (owner: Address) =>
    machine
      .getProgramAccounts(bs58.decode(owner))
      .map((one) => chainAccount(bs58.encode(one.address) as Address, one.account()));
  const at = (address: string) => {
    const account = machine.getAccount(bs58.decode(address));
    return account ? [chainAccount(address as Address, account)] : [];
  };
  const spl = SPL_PROGRAMS.flatMap(at);
  const code = spl.map(programDataAddress).flatMap((address) => (address ? at(address) : []));
  return [...owned(NATIVE_LOADER), ...[...SYSVARS, NATIVE_MINT, SBPF_V3_FEATURE].flatMap(at), ...code, ...spl];
});

const NATIVE_MINT = 'So11111111111111111111111111111111111111112' as Address;

/** Programs outside of the runtime, whose code lies on the ledger. */
const SPL_PROGRAMS = [
  TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  LOOKUP_TABLE_PROGRAM,
  'Stake11111111111111111111111111111111111111',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];

const SYSVARS = [
  CLOCK_SYSVAR,
  ...MOVING_SYSVARS,
  'SysvarRent111111111111111111111111111111111',
  'SysvarEpochSchedu1e111111111111111111111111',
  'SysvarStakeHistory1111111111111111111111111',
  'SysvarEpochRewards1111111111111111111111111',
  'SysvarLastRestartS1ot1111111111111111111111',
];
