import { type Address, getBase58Encoder } from '@solana/kit';
import * as z from 'zod';
import type { ChainAccount } from '../cluster.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import { minimumRent } from '../rent.ts';
import { decodeMint, decodeTokenAccount, TOKEN_PROGRAM } from '../token.ts';
import { decimalsOf, encodeAccount, uiAmount } from './encode-account.ts';
import {
  type AccountConfig,
  accountConfig,
  accountEncoding,
  addressParam,
  config,
  contextOf,
  dataSlice,
  integerParam,
} from './params.ts';
import { invalidParams, type Method, method } from './wire.ts';

const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const MOST_ACCOUNTS = 100;

const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })], {
  error: 'expected { mint } or { programId }',
});
const programFilter = z.union([
  z.object({ dataSize: integerParam }),
  z.object({
    memcmp: z.looseObject({
      offset: integerParam,
      bytes: z.string(),
      encoding: z.enum(['base58', 'base64']).nullish(),
    }),
  }),
]);
const programConfig = z
  .looseObject({
    encoding: accountEncoding.nullish(),
    dataSlice: dataSlice.nullish(),
    minContextSlot: integerParam.nullish(),
    withContext: z.boolean().nullish(),
    filters: z.array(programFilter).max(4).nullish(),
  })
  .optional();

/** Accounts and tokens. */
export function accountMethods(ledger: EmbeddedLedger): Record<string, Method> {
  const answer = (options: { minContextSlot?: number | null | undefined } | undefined, value: unknown) => ({
    context: contextOf(ledger, options),
    value,
  });
  const shown = (account: ChainAccount | null, options: AccountConfig) =>
    account && encodeAccount(ledger, account, options);
  const keyed = (options: AccountConfig) => (account: ChainAccount) => ({
    pubkey: account.address,
    account: encodeAccount(ledger, account, options),
  });
  const mintOf = (address: Address) => {
    const account = ledger.account(address);
    if (!account) throw invalidParams('could not find account');
    const mint = account.owner === TOKEN_PROGRAM ? decodeMint(account.data) : null;
    if (!mint) throw invalidParams('not a Token mint');
    return mint;
  };

  return {
    getAccountInfo: method(z.tuple([addressParam, accountConfig]), (address, options) =>
      answer(options, shown(ledger.account(address), options)),
    ),
    getMultipleAccounts: method(
      z.tuple([z.array(addressParam).max(MOST_ACCOUNTS), accountConfig]),
      (addresses, options) =>
        answer(
          options,
          addresses.map((address) => shown(ledger.account(address), { encoding: 'base64', ...options })),
        ),
    ),
    getBalance: method(z.tuple([addressParam, config]), (address, options) =>
      answer(options, ledger.account(address)?.lamports ?? 0n),
    ),
    getMinimumBalanceForRentExemption: method(z.tuple([integerParam, config]), (dataLength) =>
      minimumRent(dataLength),
    ),
    getTokenAccountBalance: method(z.tuple([addressParam, config]), (address, options) => {
      const account = ledger.account(address);
      if (!account) throw invalidParams('could not find account');
      const token = account.owner === TOKEN_PROGRAM ? decodeTokenAccount(account.data) : null;
      if (!token) throw invalidParams('not a Token account');
      return answer(options, uiAmount(token.amount, decimalsOf(ledger, token.mint)));
    }),
    getTokenSupply: method(z.tuple([addressParam, config]), (address, options) => {
      const { supply, decimals } = mintOf(address);
      return answer(options, uiAmount(supply, decimals));
    }),
    getTokenLargestAccounts: method(z.tuple([addressParam, config]), (address, options) => {
      const { decimals } = mintOf(address);
      const holders = ledger
        .tokenAccountsOfMint(address)
        .map((account) => ({
          address: account.address,
          amount: decodeTokenAccount(account.data)?.amount ?? 0n,
        }))
        .sort((a, b) => (a.amount < b.amount ? 1 : -1));
      return answer(
        options,
        holders.slice(0, 20).map((one) => ({ address: one.address, ...uiAmount(one.amount, decimals) })),
      );
    }),
    getTokenAccountsByOwner: method(
      z.tuple([addressParam, tokenFilter, accountConfig]),
      (owner, filter, options) => {
        if ('mint' in filter && !ledger.account(filter.mint)) throw invalidParams('could not find mint');
        if ('programId' in filter && filter.programId !== TOKEN_PROGRAM) {
          // This cluster has no Token-2022, so nobody has accounts there.
          if (filter.programId === TOKEN_2022_PROGRAM) return answer(options, []);
          throw invalidParams('unrecognized Token program id');
        }
        const accounts = ledger
          .tokenAccountsOf(owner)
          .filter(({ data }) => !('mint' in filter) || decodeTokenAccount(data)?.mint === filter.mint);
        return answer(options, accounts.map(keyed(options)));
      },
    ),
    getProgramAccounts: method(z.tuple([addressParam, programConfig]), (program, options) => {
      const accounts = ledger
        .accountsOwnedBy(program)
        .filter(({ data }) => (options?.filters ?? []).every((filter) => matches(data, filter)))
        .map(keyed(options));
      return options?.withContext ? answer(options, accounts) : accounts;
    }),
  };
}

function matches(data: Uint8Array, filter: z.infer<typeof programFilter>): boolean {
  if ('dataSize' in filter) return data.length === filter.dataSize;
  const { offset, bytes, encoding } = filter.memcmp;
  const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : Uint8Array.from(base58Bytes(bytes));
  return Buffer.compare(data.subarray(offset, offset + wanted.length), wanted) === 0;
}

function base58Bytes(text: string): Iterable<number> {
  try {
    return getBase58Encoder().encode(text);
  } catch {
    throw invalidParams('memcmp bytes are not base58');
  }
}
