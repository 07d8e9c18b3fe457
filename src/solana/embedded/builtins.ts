import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { ChainAccount } from '../cluster.ts';
import { CLOCK_SYSVAR, chainAccount, NATIVE_LOADER, programDataAddress } from './executor.ts';

/** The programs that every cluster carries, as LiteSVM has them: for the ledger's first accounts. */
export async function builtinAccounts(): Promise<ChainAccount[]> {
  const { LiteSvm } = await import('litesvm/dist/internal.js');
  const machine = new LiteSvm();
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
  return [...owned(NATIVE_LOADER), ...SYSVARS.flatMap(at), ...code, ...spl];
}

const SPL_PROGRAMS = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
];

const SYSVARS = [
  CLOCK_SYSVAR,
  'SysvarRent111111111111111111111111111111111',
  'SysvarEpochSchedu1e111111111111111111111111',
];
