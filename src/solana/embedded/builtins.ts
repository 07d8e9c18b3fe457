import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { ChainAccount } from '../cluster.ts';
import { SBPF_V3_FEATURE } from '../loader.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../token.ts';
import { chainAccount, NATIVE_LOADER, programDataAddress } from './executor.ts';
import { LOOKUP_TABLE_PROGRAM } from './lookup-tables.ts';
import { CLOCK_SYSVAR, MOVING_SYSVARS } from './sysvars.ts';

/** The programs that every cluster carries, as LiteSVM has them: for the ledger's first accounts. */
export async function builtinAccounts(): Promise<ChainAccount[]> {
  const { LiteSvm } = await import('litesvm/dist/internal.js');
  const machine = new LiteSvm();
  machine.withNativeMints();
  const owned = (owner: Address) =>
    machine.getProgramAccounts(bs58.decode(owner)).map((one) => {
      const address = bs58.encode(one.address) as Address;
      return chainAccount(address, one.account());
    });
  const at = (address: string) => {
    const account = machine.getAccount(bs58.decode(address));
    return account ? [chainAccount(address as Address, account)] : [];
  };
  const spl = SPL_PROGRAMS.flatMap(at);
  const code = spl.map(programDataAddress).flatMap((address) => (address ? at(address) : []));
  return [
    ...owned(NATIVE_LOADER),
    ...[...SYSVARS, NATIVE_MINT, SBPF_V3_FEATURE].flatMap(at),
    ...code,
    ...spl,
  ];
}

/** Wrapped SOL. */
export const NATIVE_MINT = 'So11111111111111111111111111111111111111112' as Address;

/** Programs that are not part of the runtime, and whose code lies on the ledger. */
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
