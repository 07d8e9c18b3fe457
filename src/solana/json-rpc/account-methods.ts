import type { Address } from '@solana/kit';
import * as z from 'zod';
import type { ChainAccount } from '../cluster.ts';
import type { AccountsWanted, EmbeddedLedger } from '../embedded/index.ts';
import { mintOf as decodedMint, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, tokenAccountOf, tokenAmountOf } from '../token.ts';
import { minimumRent } from '../transaction.ts';
import { createMeter, eachPage, type Turns } from './cost.ts';
import { decimalsOf, encodeAccount, uiAmount } from './encode-account.ts';
import {
  type AccountConfig,
  accountConfig,
  accountEncoding,
  addressParam,
  answered,
  config,
  dataSlice,
  integerParam,
  invalidParams,
  type Method,
  matcherOf,
  method,
  minContextSlot,
  programFilters,
} from './wire.ts';

const MOST_ACCOUNTS = 100;
const MOST_LARGEST = 20;
/** Accounts read at once; programs among them can be large. */
const PAGE = 20;

const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })], {
  error: 'expected { mint } or { programId }',
});
const tokenAccountsOf = z.tuple([addressParam, tokenFilter, accountConfig]);
const programConfig = z
  .looseObject({
    ...{ encoding: accountEncoding, dataSlice, minContextSlot },
    ...{ withContext: z.boolean().nullish(), filters: programFilters },
  })
  .optional();

export function accountMethods(ledger: EmbeddedLedger, turns: Turns): Record<string, Method> {
  const scan: Scan = (wanted, look) =>
    eachPage(turns, PAGE, (last) => ledger.accountsPage(wanted, last?.address ?? '', PAGE), look);
  const answer = (options: Parameters<typeof answered>[1], value: unknown) => answered(ledger, options, value);
  const shown = (account: ChainAccount | null, options: AccountConfig) =>
    account && encodeAccount(ledger, account, options);

  return {
    getAccountInfo: method(z.tuple([addressParam, accountConfig]), (address, options) =>
      answer(options, shown(ledger.account(address), options)),
    ),
    getMultipleAccounts: method(
      z.tuple([z.array(addressParam).max(MOST_ACCOUNTS), accountConfig]),
      async (addresses, options) => {
        const meter = createMeter();
        const found: unknown[] = [];
        for (const address of addresses) {
          const account = ledger.account(address);
          if (account) meter(bytesShown(account, options));
          found.push(shown(account, { encoding: 'base64', ...options }));
          await turns.breathe();
        }
        return answer(options, found);
      },
    ),
    getBalance: method(z.tuple([addressParam, config]), (address, options) =>
      answer(options, ledger.account(address)?.lamports ?? 0n),
    ),
    getMinimumBalanceForRentExemption: method(z.tuple([integerParam, config]), (dataLength) => minimumRent(dataLength)),
    getTokenAccountBalance: method(z.tuple([addressParam, config]), (address, options) => {
      const account = ledger.account(address);
      if (!account) throw invalidParams('could not find account');
      const token = tokenAccountOf(account);
      if (!token) throw invalidParams('not a Token account');
      return answer(options, uiAmount(token.amount, decimalsOf(ledger, token.mint)));
    }),
    getTokenSupply: method(z.tuple([addressParam, config]), (address, options) => {
      const { supply, decimals } = mintOf(ledger, address);
      return answer(options, uiAmount(supply, decimals));
    }),
    getTokenLargestAccounts: method(z.tuple([addressParam, config]), async (address, options) => {
      const { decimals } = mintOf(ledger, address);
      const largest: { address: Address; amount: bigint }[] = [];
      await scan({ by: 'mint', is: address }, (account) => {
        const amount = tokenAmountOf(account.data);
        const place = largest.findIndex((one) => one.amount < amount);
        largest.splice(place < 0 ? largest.length : place, 0, { address: account.address, amount });
        largest.splice(MOST_LARGEST);
      });
      return answer(
        options,
        largest.map((one) => ({ address: one.address, ...uiAmount(one.amount, decimals) })),
      );
    }),
    getTokenAccountsByOwner: method(tokenAccountsOf, async (owner, filter, options) => {
      const isShown = matching(ledger, filter);
      return answer(options, await keyed(ledger, scan, { by: 'token_owner', is: owner }, isShown, options));
    }),
    getTokenAccountsByDelegate: method(tokenAccountsOf, async (delegate, filter, options) => {
      const fits = matching(ledger, filter);
      const isShown = (account: ChainAccount) => fits(account) && tokenAccountOf(account)?.delegate === delegate;
      const wanted: AccountsWanted =
        'mint' in filter ? { by: 'mint', is: filter.mint } : { by: 'owner', is: filter.programId };
      return answer(options, await keyed(ledger, scan, wanted, isShown, options));
    }),
    getProgramAccounts: method(z.tuple([addressParam, programConfig]), async (program, options) => {
      const matches = matcherOf(options?.filters);
      const isShown = ({ data }: ChainAccount) => matches(data);
      const accounts = await keyed(ledger, scan, { by: 'owner', is: program }, isShown, options);
      return options?.withContext ? answer(options, accounts) : accounts;
    }),
  };
}

/** Makes the check of a filter. @throws JsonRpcError for an unknown mint or program */
function matching(ledger: EmbeddedLedger, filter: z.infer<typeof tokenFilter>): (account: ChainAccount) => boolean {
  if ('mint' in filter) {
    if (!ledger.account(filter.mint)) throw invalidParams('could not find mint');
    return (account) => tokenAccountOf(account)?.mint === filter.mint;
  }
  const { programId } = filter;
  if (programId !== TOKEN_PROGRAM && programId !== TOKEN_2022_PROGRAM)
    throw invalidParams('unrecognized Token program id');
  return ({ owner }) => owner === programId;
}

async function keyed(
  ledger: EmbeddedLedger,
  scan: Scan,
  wanted: AccountsWanted,
  isShown: (account: ChainAccount) => boolean,
  options: AccountConfig,
) {
  const meter = createMeter();
  const shown: { pubkey: Address; account: ReturnType<typeof encodeAccount> }[] = [];
  await scan(wanted, (account) => {
    if (!isShown(account)) return;
    meter(bytesShown(account, options));
    shown.push({ pubkey: account.address, account: encodeAccount(ledger, account, options) });
  });
  return shown;
}

function mintOf(ledger: EmbeddedLedger, address: Address) {
  const account = ledger.account(address);
  if (!account) throw invalidParams('could not find account');
  const mint = decodedMint(account);
  if (!mint) throw invalidParams('not a Token mint');
  return mint;
}

type Scan = (wanted: AccountsWanted, look: (account: ChainAccount) => void) => Promise<void>;

/** Approximates an account's bytes in an answer: its data and the JSON around it. */
const bytesShown = ({ data }: ChainAccount, options: AccountConfig): number =>
  200 + Math.min(data.length, options?.dataSlice?.length ?? data.length);
