import * as fc from 'fast-check';
import { DAY } from '../program-world.ts';
import { type Act, CALLS, type Flaw } from './acts.ts';
import { I64_MAX, NAMES, U64_MAX } from './cast.ts';

/** Acts by chance: mostly sensible ones, with people, amounts, times and accounts that are not among them. */

export const AMOUNT = 1_000n;
const amounts = fc.constantFrom(0n, 1n, 7n, AMOUNT, AMOUNT, AMOUNT, 2n * AMOUNT, 2n ** 63n, U64_MAX);
const which = fc.constantFrom(0, 0, 0, 1, 1, 2);
const anybody = fc.constantFrom(...NAMES);
const who = fc.constantFrom('authority', 'authority', 'traveller', 'stranger', 'pauper' as const);
const coin = fc.constantFrom('usdc', 'usdc', 'usdc', 'other' as const);
const of = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model);

const flaw: fc.Arbitrary<Flaw> = fc.oneof(
  {
    weight: 5,
    arbitrary: of<Extract<Flaw, { wrong: 'account' }>>({
      wrong: fc.constant('account'),
      at: fc.nat(6),
      by: fc.nat(40),
    }),
  },
  {
    weight: 3,
    arbitrary: of<Extract<Flaw, { wrong: 'role' }>>({
      wrong: fc.constant('role'),
      at: fc.nat(6),
      without: fc.constantFrom(1, 2),
    }),
  },
  of<Extract<Flaw, { wrong: 'accounts' }>>({
    wrong: fc.constant('accounts'),
    change: fc.constantFrom(-2, -1, 1, 2, 5),
  }),
  of<Extract<Flaw, { wrong: 'length' }>>({ wrong: fc.constant('length'), change: fc.constantFrom(-113, -1, 1, 30) }),
  of<Extract<Flaw, { wrong: 'byte' }>>({ wrong: fc.constant('byte'), at: fc.nat(112), to: fc.nat(255) }),
);
const rarely = fc.option(flaw, { freq: 4, nil: undefined });

const call: fc.Arbitrary<Act> = fc.record({
  do: fc.constantFrom(...CALLS),
  which,
  by: who,
  asOwn: fc.nat(7).map((n) => n === 0),
  second: fc.nat(5).map((n) => n === 0),
  flaw: rarely,
});
const recoverOther: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('recover' as const),
  which,
  by: who,
  coin: fc.constant('other' as const),
});
const open: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('open' as const),
  which,
  by: fc.constantFrom('authority', 'authority', 'stranger', 'traveller' as const),
  payer: fc.constantFrom('authority', 'authority', 'stranger', 'pauper' as const),
  amount: amounts,
  dueIn: fc.constantFrom(-1n, 0n, 1n, DAY, DAY, DAY, 31n * DAY),
  terms: fc.constantFrom(
    'usual',
    'usual',
    'usual',
    'usual',
    'theirs',
    'equal',
    'nobody',
    'itself',
    'vault',
    'cross' as const,
  ),
  coin,
  vault: fc.nat(5).map((n) => n > 0),
  flaw: rarely,
});
const openAtAnyTime: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('open' as const),
  which,
  by: fc.constant('authority' as const),
  amount: amounts,
  dueAt: fc.constantFrom(I64_MAX, -I64_MAX - 1n, 0n),
});
const instruction: fc.Arbitrary<Act> = fc.oneof(
  { weight: 24, arbitrary: call },
  { weight: 2, arbitrary: recoverOther },
  { weight: 6, arbitrary: open },
  { weight: 1, arbitrary: openAtAnyTime },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      which,
      by: fc.constantFrom('traveller', 'traveller', 'stranger' as const),
      amount: amounts,
      coin,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('makeVault' as const), which, by: who, coin }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('gift' as const),
      which,
      to: fc.constantFrom('escrow', 'vault' as const),
      lamports: fc.constantFrom(1n, 1_000_000n, 2_784_000n, 5_000_000n),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('freeze', 'thaw', 'thaw' as const),
      what: fc.constantFrom('vault', 'account' as const),
      which,
      of: fc.constantFrom('traveller', 'treasury' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('spend', 'closeAccount', 'makeAccount', 'giveAway' as const),
      of: fc.constantFrom('traveller', 'traveller', 'treasury' as const),
      to: anybody,
    }),
  },
);
const wait: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('wait' as const),
  seconds: fc.constantFrom(-5n, 1n, DAY - 1n, DAY, 30n * DAY - 1n, 30n * DAY, 31n * DAY),
});
export const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 12, arbitrary: instruction },
  { weight: 2, arbitrary: wait },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('together' as const),
      acts: fc.array(instruction, { minLength: 2, maxLength: 3 }),
    }),
  },
);
