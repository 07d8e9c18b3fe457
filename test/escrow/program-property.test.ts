import type { Address, Instruction } from '@solana/kit';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { openInstructions } from '../../src/escrow/program.ts';
import type { EscrowAccount } from '../../src/escrow/terms.ts';
import { idFor, type OpenEscrow, openEscrow, withAccount } from './program-scene.ts';
import { createWorld, DAY, type Person, START, type World } from './program-world.ts';

/**
 * Whatever anybody does in whatever order: no token is made or lost, only the treasury and the refund owner that were
 * frozen ever receive, and an escrow is captured once or refunded once.
 */

const AMOUNT = 1_000n;

const act = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('call' as const),
      call: fc.constantFrom(
        'capture',
        'captureAndLeave',
        'refund',
        'refundByAnyone',
        'sweep',
        'close',
        'recover',
      ),
      /** Replaces one account by another, or none. */
      swap: fc.option(fc.record({ at: fc.nat(6), by: fc.nat(8) }), { freq: 3 }),
    }),
  },
  fc.record({
    kind: fc.constant('pay' as const),
    amount: fc.constantFrom(1n, 7n, 500n, AMOUNT, 2n * AMOUNT),
  }),
  fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(1n, 31n) }),
  fc.record({ kind: fc.constant('makeVault' as const) }),
  fc.record({ kind: fc.constant('open' as const) }),
);
const steps = fc.array(
  fc.record({ which: fc.nat(1), who: fc.constantFrom('authority', 'traveller', 'stranger'), act }),
  { minLength: 5, maxLength: 40 },
);
type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never;
type Call = Extract<Step['act'], { kind: 'call' }>;

async function play(world: World, sequence: readonly Step[], tally: (name: string) => void): Promise<void> {
  const { authority, traveller, stranger, treasury } = world;
  const ids = [idFor(traveller.address), idFor(traveller.address)] as const;
  const escrows = [
    await openEscrow(world, ids[0], { amount: AMOUNT, pays: AMOUNT }),
    await openEscrow(world, ids[1], { amount: AMOUNT }),
  ] as const;
  const wallets = new Map<Address, Address>();
  for (const { address } of [traveller, stranger, treasury])
    wallets.set(address, await world.walletOf(address));
  const vaults = escrows.map((escrow) => escrow.vault);
  const money = () =>
    new Map([...wallets.values(), ...vaults].map((place) => [place, world.tokensOf(place) ?? 0n]));
  const all = total(money());
  let now = START;

  for (const { which, who, act: todo } of sequence) {
    const escrow = which === 0 ? escrows[0] : escrows[1];
    const actor = { authority, traveller, stranger }[who] ?? stranger;
    if (todo.kind === 'wait') {
      now += todo.days * DAY;
      world.at(now);
    } else if (todo.kind === 'pay') {
      await world.pay(traveller, escrow.vault, todo.amount);
      expect(total(money())).toBe(all);
    } else {
      const before = { state: escrow.read(), money: money() };
      const { result } = await world.send(
        await attempt(world, escrow, escrows, ids[which === 0 ? 0 : 1], todo, actor, now),
        actor,
      );
      const after = { state: escrow.read(), money: money() };
      tally(`${todo.kind === 'call' ? todo.call : todo.kind} ${result === 'ok' ? 'done' : 'refused'}`);
      expect(total(after.money)).toBe(all);
      if (result !== 'ok') expect(after).toEqual(before);
      else keptItsTerms(before, after, wallets, traveller.address);
      // While there is an escrow its own rules hold; without one the id says who gets what.
      if (todo.kind === 'call' && todo.call === 'recover' && result === 'ok') expect(before.state).toBeNull();
    }
  }
}

interface Moment {
  readonly state: EscrowAccount | null;
  readonly money: ReadonlyMap<Address, bigint>;
}

const total = (of: ReadonlyMap<Address, bigint>): bigint =>
  [...of.values()].reduce((sum, each) => sum + each, 0n);

/** One step of an escrow, held against the terms that were frozen before it. */
function keptItsTerms(
  before: Moment,
  after: Moment,
  wallets: ReadonlyMap<Address, Address>,
  committed: Address,
): void {
  const ended = before.state?.state === 'open' ? after.state?.state : undefined;
  if (before.state && after.state) {
    const { state: _from, endedAt: _open, neverFunded: _not, ...frozen } = before.state;
    expect(after.state).toMatchObject(frozen);
    // An end is for good.
    if (before.state.state !== 'open') expect(after.state).toEqual(before.state);
  }
  for (const [owner, wallet] of wallets) {
    const gained = (after.money.get(wallet) ?? 0n) - (before.money.get(wallet) ?? 0n);
    if (owner === before.state?.treasury)
      expect(gained).toBe(ended === 'captured' ? before.state.amount : 0n);
    else if (owner === before.state?.refundOwner) expect(gained >= 0n).toBe(true);
    else if (before.state === null && owner === committed) expect(gained >= 0n).toBe(true);
    else expect(gained).toBe(0n);
  }
  // A refund leaves nothing behind, an opening finds nothing.
  const vault = after.state?.vault;
  if (vault && (ended === 'refunded' || before.state === null)) expect(after.money.get(vault)).toBe(0n);
}

/** What `actor` sends: he signs for himself alone, whoever the instruction wants. */
async function attempt(
  world: World,
  escrow: OpenEscrow,
  escrows: readonly OpenEscrow[],
  intentId: string,
  todo: Exclude<Step['act'], { kind: 'pay' | 'wait' }>,
  actor: Person,
  now: bigint,
): Promise<Instruction[]> {
  if (todo.kind === 'call') return [unsigned(swapped(world, escrow, escrows, todo, actor), actor)];
  const own = actor === world.stranger;
  const both = await openInstructions({
    programId: ESCROW_PROGRAM_ID,
    intentId,
    authority: actor.address,
    payer: actor.address,
    mint: world.mint,
    amount: AMOUNT,
    refundAfter: now + DAY,
    treasury: own ? world.traveller.address : world.treasury.address,
    refundOwner: own ? world.stranger.address : world.traveller.address,
  });
  return todo.kind === 'open' ? both : both.slice(0, 1);
}

const CALLS = [
  'capture',
  'captureAndLeave',
  'refund',
  'refundByAnyone',
  'sweep',
  'close',
  'recover',
] as const;

function swapped(
  world: World,
  escrow: OpenEscrow,
  escrows: readonly OpenEscrow[],
  { call, swap }: Call,
  actor: Person,
): Instruction {
  const name = CALLS.find((each) => each === call) ?? 'sweep';
  const valid = escrow[name];
  const decoys = [
    actor.address,
    ...escrows.flatMap((each) => [each.escrow, each.vault]),
    escrow.treasuryAccount,
    escrow.refundAccount,
    world.mint,
    ESCROW_PROGRAM_ID,
  ];
  const by = swap === null ? undefined : decoys[swap.by];
  if (swap === null || by === undefined) return valid;
  return withAccount(valid, swap.at, by, by === actor.address ? 3 : by === ESCROW_PROGRAM_ID ? 0 : 1);
}

const unsigned = (instruction: Instruction, actor: Person): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).map(({ address, role }) => ({
    address,
    role: address === actor.address ? role : role & 1,
  })),
});

const does = (call: (typeof CALLS)[number], who: Step['who'] = 'authority', which = 0): Step => ({
  which,
  who,
  act: { kind: 'call', call, swap: null },
});
const other = (kind: 'makeVault' | 'open', who: Step['who'] = 'stranger'): Step => ({
  which: 0,
  who,
  act: { kind },
});
const pays = (amount: bigint, which = 0): Step => ({ which, who: 'traveller', act: { kind: 'pay', amount } });
const waits = (days: 1n | 31n): Step => ({ which: 0, who: 'stranger', act: { kind: 'wait', days } });

/** Whole lives, so that every instruction also works in each run, whatever chance brings. */
const lives: [Step[]][] = [
  [
    [
      pays(7n),
      does('sweep', 'stranger'),
      pays(1n),
      does('capture'),
      other('makeVault'),
      pays(7n),
      waits(31n),
      does('close'),
      does('sweep', 'stranger'),
      does('close'),
      other('open'),
      pays(7n),
      does('sweep', 'stranger'),
    ],
  ],
  [[pays(7n), does('captureAndLeave'), does('sweep', 'stranger'), waits(31n), does('close'), other('open')]],
  [
    [
      does('capture'),
      waits(31n),
      does('close'),
      other('makeVault'),
      pays(7n),
      does('recover', 'stranger'),
      does('recover', 'stranger'),
    ],
  ],
  [
    [
      does('refund', 'authority', 1),
      does('close', 'authority', 1),
      does('refund', 'authority', 1),
      waits(1n),
      does('refundByAnyone', 'stranger'),
    ],
  ],
];

test('any sequence of instructions by anybody keeps the promises of an escrow', async () => {
  const seen = new Map<string, number>();
  const tally = (name: string) => seen.set(name, (seen.get(name) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => play(await createWorld(), sequence, tally)),
    { numRuns: 40, examples: lives },
  );
  const worked = [...CALLS, 'open', 'makeVault'].filter((name) => seen.has(`${name} done`));
  expect(worked).toEqual([...CALLS, 'open', 'makeVault']);
});
