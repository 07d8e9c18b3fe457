import * as fc from 'fast-check';
import { isProof } from '../../rounds.ts';
import { DAY } from '../program-world.ts';
import { type Act, CALLS, type ConsentedAct, type Flaw, WAYS } from './acts.ts';
import { AMOUNT, I64_MAX, INTENTS, NAMES, SOUND, U64_MAX } from './cast.ts';

/** Acts by chance: mostly sensible ones, with people, amounts, times and accounts that are not among them. */

const amounts = fc.constantFrom(0n, 1n, 7n, AMOUNT, AMOUNT, AMOUNT, 2n * AMOUNT, 2n ** 63n, U64_MAX);
const which = fc.constantFrom(0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 6);
const authorization = fc.constantFrom(3, 3, 3, 3, 4, 5, 6);
const anybody = fc.constantFrom(...NAMES);
const who = fc.constantFrom('authority', 'authority', 'traveller', 'stranger', 'pauper' as const);
const coin = fc.constantFrom('usdc', 'usdc', 'usdc', 'other' as const);
const of = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model);

const flaw: fc.Arbitrary<Flaw> = fc.oneof(
  {
    weight: 5,
    arbitrary: of<Extract<Flaw, { wrong: 'account' }>>({
      wrong: fc.constant('account'),
      at: fc.nat(7),
      by: fc.nat(90),
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
  of<Extract<Flaw, { wrong: 'length' }>>({
    wrong: fc.constant('length'),
    change: fc.constantFrom(-113, -1, 1, 24, 30),
  }),
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
const mostly = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const authorize: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('authorize' as const),
  which: fc.oneof(
    { weight: 6, arbitrary: authorization },
    { weight: 1, arbitrary: fc.nat(6).map((n) => INTENTS + SOUND + n) },
  ),
  by: mostly<'payer' | (typeof NAMES)[number]>('payer', 'stranger', 'authority'),
  payer: fc.constantFrom('authority', 'authority', 'stranger', 'pauper' as const),
  source: mostly<'own' | 'second' | 'vault' | 'treasury' | 'otherCoin'>(
    'own',
    'second',
    'vault',
    'treasury',
    'otherCoin',
  ),
  vault: fc.nat(5).map((n) => n > 0),
  flaw: rarely,
});
/** The genuine one in every third act: chance alone would seldom get one through. */
const consented: fc.Arbitrary<ConsentedAct> = fc.record({
  do: fc.constantFrom('part', 'part', 'refundCaptured', 'void' as const),
  which: fc.oneof({ weight: 6, arbitrary: authorization }, { weight: 2, arbitrary: fc.constantFrom(0, 1, 2) }),
  by: mostly<'operator' | (typeof NAMES)[number]>('operator', 'stranger', 'traveller', 'authority'),
  amount: fc.constantFrom(0n, 1n, 400n, 400n, 600n, AMOUNT - 1n, AMOUNT, AMOUNT + 1n, 2n ** 63n, U64_MAX),
  release: fc.boolean(),
  leaves: fc.nat(4).map((n) => n === 0),
  second: fc.nat(5).map((n) => n === 0),
  consent: mostly<ConsentedAct['consent']>('signed', ...WAYS),
  consentBy: mostly<'authorizer of it' | (typeof NAMES)[number]>('authorizer of it', 'stranger', 'authority'),
  off: mostly<ConsentedAct['off']>([0n, 0n], [1n, 0n], [0n, 1n], [-1n, 0n]),
  validFor: mostly(0n, -1n, DAY),
  funder: mostly<ConsentedAct['funder']>('treasury', 'traveller', 'stranger', 'authority'),
  funderSigns: fc.nat(7).map((n) => n > 0),
  source: mostly<ConsentedAct['source']>('own', 'vault', 'otherCoin', 'treasury'),
  flaw: rarely,
});
/** Sound refunds of what was captured: by chance alone one in some thousand acts is. */
const refundCaptured: fc.Arbitrary<ConsentedAct> = fc.record({
  do: fc.constant('refundCaptured' as const),
  which: authorization,
  by: fc.constant('operator' as const),
  amount: fc.constantFrom(1n, 1n, 400n),
  release: fc.constant(false),
  consent: fc.constant('signed' as const),
  consentBy: fc.constant('authorizer of it' as const),
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
  { weight: 8, arbitrary: authorize },
  { weight: 24, arbitrary: consented },
  // In the short form it would crowd out what else is rare.
  ...(isProof ? [{ weight: 6, arbitrary: refundCaptured }] : []),
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
