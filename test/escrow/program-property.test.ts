import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isProof, rounds, seedOr } from '../rounds.ts';
import { type Act, CALLS, type ConsentedAct, textOf } from './model/acts.ts';
import { AMOUNT, createCast, type NAMES } from './model/cast.ts';
import { act } from './model/chance.ts';
import { type Machine, openMachine } from './model/machine.ts';
import { play, type Tally } from './model/play.ts';
import type { State } from './model/state.ts';
import { DAY } from './program-world.ts';
import { ESCROW_REFUSALS } from './refusals.ts';

/**
 * Whatever anybody does in whatever order, the real program does what the rules say, to the unit and to the byte, and
 * keeps what it promises to those who pay (model/play.ts).
 */

const opened: Act = { do: 'open', which: 0, by: 'authority', amount: AMOUNT, dueIn: DAY };
const pays = (amount: bigint): Act => ({ do: 'pay', which: 0, by: 'traveller', amount });
const does = (name: (typeof CALLS)[number], by: (typeof NAMES)[number] = 'authority', which = 0): Act => ({
  do: name,
  which,
  by,
});
const waits = (days: bigint): Act => ({ do: 'wait', seconds: days * DAY });
const madeAgain: Act = { do: 'makeVault', which: 0, by: 'stranger' };

const authorized = (which: number = 3): Act => ({ do: 'authorize', which, by: 'payer', payer: 'authority' });
const part = (change: Partial<ConsentedAct>): ConsentedAct => ({
  ...{ do: 'part', which: 3, by: 'operator', amount: 0n, release: false },
  ...{ consent: 'signed', consentBy: 'authorizer of it' },
  ...change,
});

/** Where a sequence begins: chance alone would seldom come far. */
const BEGINNINGS: readonly (readonly Act[])[] = [
  [],
  [opened],
  [opened, pays(AMOUNT)],
  [opened, pays(AMOUNT), { ...opened, which: 1 }, pays(7n)],
  [opened, pays(AMOUNT + 7n), does('captureAndLeave')],
  [opened, pays(AMOUNT), does('capture'), madeAgain, pays(7n)],
  [opened, pays(1n), does('refund')],
  [opened, pays(AMOUNT), does('refund'), waits(31n), does('close'), madeAgain, pays(7n)],
  [authorized()],
  [authorized(), part({ amount: 400n })],
  [authorized(), part({ amount: 400n, release: true })],
  [authorized(), part({ amount: 400n }), part({ do: 'void' })],
  [authorized(), authorized(4), part({ which: 4, amount: 400n })],
  [opened, pays(AMOUNT), part({ which: 0, amount: 400n, release: true })],
  [authorized(), { do: 'pay', which: 3, by: 'stranger', amount: 7n }],
  [{ ...opened, by: 'stranger', terms: 'theirs' }, pays(AMOUNT), { ...opened, which: 1, terms: 'cross' }],
];

/** What chance finds once in some thousand sequences, and the edges. `by` counts the decoys of model/acts.ts. */
const RARE: readonly (readonly [readonly Act[], ...Act[]])[] = [
  [
    [opened, pays(AMOUNT + 7n)],
    { do: 'sweep', which: 0, by: 'stranger', flaw: { wrong: 'account', at: 2, by: 12 } },
    { do: 'sweep', which: 0, by: 'stranger', flaw: { wrong: 'account', at: 2, by: 3 } },
  ],
  [[madeAgain], { ...opened, payer: 'pauper', vault: false }],
  [[opened], does('capture')],
  [[opened, pays(AMOUNT)], part({ which: 0, amount: 400n }), part({ which: 0, amount: AMOUNT, release: true })],
  [[madeAgain, pays(7n)], opened],
  [[opened, pays(AMOUNT), does('refund'), madeAgain, waits(31n)], does('close')],
  [[{ ...madeAgain, which: 2 }], does('recover', 'stranger', 2)],
  [[opened, pays(AMOUNT), { do: 'freeze', what: 'vault', which: 0, of: 'traveller' }], does('capture')],
  [[], { ...opened, flaw: { wrong: 'account', at: 4, by: 2 } }],
  // The terms that cannot be made.
  [[], authorized(7), ...[8, 9, 10, 11, 12, 13].map(authorized)],
  [[authorized(), part({ amount: 400n })], part({ do: 'refundCaptured', amount: 400n })],
  [[authorized(), part({ amount: 400n }), part({ do: 'void' })], waits(3n), does('close', 'authority', 3)],
  [
    [authorized(), part({ do: 'void' })],
    does('close', 'authority', 3),
    { do: 'wait', seconds: 1n },
    does('close', 'authority', 3),
  ],
  // An old consent does not come back with the next life of an address.
  [
    [authorized(), part({ do: 'void' }), { do: 'wait', seconds: 1n }, does('close', 'authority', 3), authorized()],
    part({ do: 'void', consent: 'earlier' }),
    part({ do: 'void' }),
  ],
  [[authorized(), waits(1n)], part({ amount: 1n }), does('refundByAnyone', 'stranger', 3)],
  [[authorized(), part({ amount: 400n }), waits(3n)], part({ do: 'refundCaptured', amount: 1n })],
  [[opened], { do: 'together', acts: [does('refund'), does('close')] }],
  [[opened, pays(AMOUNT), waits(1n)], does('refundByAnyone', 'stranger'), waits(30n), does('close')],
  [[opened, pays(AMOUNT + 1n)], does('capture'), waits(30n), does('close')],
  ...[1_000_000n, 2_784_000n, 5_000_000n].map((lamports): [Act[], ...Act[]] => [
    [madeAgain, { do: 'gift', which: 0, to: 'escrow', lamports }],
    { ...opened, payer: 'pauper', vault: false },
    opened,
    does('refund'),
    does('close'),
  ]),
];

/** A command of fast-check changes its model in place. */
interface Model {
  state: State;
}

test('any sequence of instructions by anybody does what the rules say, to the unit', async () => {
  const cast = await createCast();
  const machine = openMachine(cast);
  const tally: Tally = new Map();
  let acts = 0;
  const commandOf = (one: Act): fc.Command<Model, Machine> => ({
    check: () => true,
    run(model) {
      acts++;
      model.state = play(cast, machine, model.state, one, tally);
    },
    toString: () => textOf(one),
  });
  const sequence: fc.Arbitrary<Iterable<fc.Command<Model, Machine>>> = fc.commands([act.map(commandOf)], {
    maxCommands: 24,
    size: 'max',
  });
  const numRuns = rounds(150, 100_000);
  fc.assert(
    fc.property(fc.constantFrom(...BEGINNINGS), sequence, (beginning, commands) => {
      machine.become(cast.initial);
      const model = { state: cast.initial };
      for (const one of beginning) model.state = play(cast, machine, model.state, one, tally);
      fc.modelRun(() => ({ model, real: machine }), commands);
      expect(machine.differing(model.state)).toEqual([]);
    }),
    {
      numRuns,
      seed: seedOr(20261122),
      examples: RARE.map(([beginning, ...more]): [readonly Act[], fc.Command<Model, Machine>[]] => [
        beginning,
        more.map(commandOf),
      ]),
    },
  );

  const wanted = [
    ...[...CALLS, 'open', 'authorize', 'part', 'refundCaptured', 'void', 'makeVault', 'pay', 'together'].map(
      (name) => `${name} done`,
    ),
    // No cluster has another rent rule than the two that are known.
    ...Object.values(ESCROW_REFUSALS)
      .map(([name]) => `refused: ${name}`)
      .filter((name) => name !== 'refused: rent_unknown'),
    ...['insufficient', 'frozen', 'rent'].map((name) => `refused: ${name}`),
  ];
  expect(wanted.filter((name) => !tally.has(name))).toEqual([]);
  if (isProof) {
    const lines = [...tally].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => `${name}: ${times}`);
    process.stdout.write(`${numRuns} sequences, ${acts} acts\n${lines.join('\n')}\n`);
  }
});
