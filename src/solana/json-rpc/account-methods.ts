import { type Address, getBase58Encoder } from '@solana/kit';
import * as z from 'zod';
import type { ChainAccount } from '../cluster.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import type { AccountsWanted } from '../embedded/ledger-file.ts';
import { minimumRent } from '../rent.ts';
import { decodeMint, decodeTokenAccount, TOKEN_PROGRAM, tokenAmountOf } from '../token.ts';
import { createMeter } from './cost.ts';
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
import type { Turns } from './turns.ts';
import { invalidParams, type Method, method } from './wire.ts';

const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const MOST_ACCOUNTS = 100;
const MOST_LARGEST = 20;
/** 128 bytes in the longer of the two encodings. */
const MOST_MEMCMP = 175;
/** Accounts that are read at once: programs among them can be large. */
const PAGE = 20;

const tokenFilter = z.union([z.object({ mint: addressParam }), z.object({ programId: addressParam })], {
  error: 'expected { mint } or { programId }',
});
const programFilter = z.union([
  z.object({ dataSize: integerParam }),
  z.object({
    memcmp: z.looseObject({
      offset: integerParam,
      bytes: z.string().max(MOST_MEMCMP),
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
export function accountMethods(ledger: EmbeddedLedger, turns: Turns): Record<string, Method> {
  const scan = createScan(ledger, turns);
  const answer = (options: { minContextSlot?: number | null | undefined } | undefined, value: unknown) => ({
    context: contextOf(ledger, options),
    value,
  });
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
    getTokenAccountsByOwner: method(
      z.tuple([addressParam, tokenFilter, accountConfig]),
      async (owner, filter, options) => {
        if ('mint' in filter && !ledger.account(filter.mint)) throw invalidParams('could not find mint');
        if ('programId' in filter && filter.programId !== TOKEN_PROGRAM) {
          // This cluster has no Token-2022, so nobody has accounts there.
          if (filter.programId === TOKEN_2022_PROGRAM) return answer(options, []);
          throw invalidParams('unrecognized Token program id');
        }
        const isShown = ({ data }: ChainAccount) =>
          !('mint' in filter) || decodeTokenAccount(data)?.mint === filter.mint;
        return answer(options, await keyed(ledger, scan, { by: 'token_owner', is: owner }, isShown, options));
      },
    ),
    getProgramAccounts: method(z.tuple([addressParam, programConfig]), async (program, options) => {
      const filters = (options?.filters ?? []).map(matcher);
      const isShown = ({ data }: ChainAccount) => filters.every((matches) => matches(data));
      const accounts = await keyed(ledger, scan, { by: 'owner', is: program }, isShown, options);
      return options?.withContext ? answer(options, accounts) : accounts;
    }),
  };
}

/** The accounts that are wanted, as an answer shows them. */
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
  const mint = account.owner === TOKEN_PROGRAM ? decodeMint(account.data) : null;
  if (!mint) throw invalidParams('not a Token mint');
  return mint;
}

type Scan = (wanted: AccountsWanted, look: (account: ChainAccount) => void) => Promise<void>;

/** Looks at accounts a page at a time, however many there are, and lets others have their turn in between. */
const createScan =
  (ledger: EmbeddedLedger, turns: Turns): Scan =>
  async (wanted, look) => {
    for (let after = ''; ; ) {
      const page = ledger.accountsPage(wanted, after, PAGE);
      for (const account of page) look(account);
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.address;
      await turns.breathe();
    }
  };

/** What an account adds to an answer, roughly: its data, and what stands around it. */
const bytesShown = ({ data }: ChainAccount, options: AccountConfig): number =>
  200 + Math.min(data.length, options?.dataSlice?.length ?? data.length);

function matcher(filter: z.infer<typeof programFilter>): (data: Uint8Array) => boolean {
  if ('dataSize' in filter) return (data) => data.length === filter.dataSize;
  const { offset, bytes, encoding } = filter.memcmp;
  const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : Uint8Array.from(base58Bytes(bytes));
  return (data) => Buffer.compare(data.subarray(offset, offset + wanted.length), wanted) === 0;
}

function base58Bytes(text: string): Iterable<number> {
  try {
    return getBase58Encoder().encode(text);
  } catch {
    throw invalidParams('memcmp bytes are not base58');
  }
}
