import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEffects } from '../../../src/effects/index.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import type { FlightsPorts } from '../../../src/flights/base/index.ts';
import { createEscrows } from '../../../src/flights/bookings/escrows.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type {
  AuditTrail,
  CreatedIntent,
  Order,
  RefundCase,
  Stuck,
  StuckItem,
  StuckPlan,
} from '../../../src/wire/flights/index.ts';
import { cases, proofTest } from '../../proof-only.ts';
import { everyNth } from '../../rounds.ts';
import { lowcostIntent, TRAVELLER } from '../lowcost-journey.ts';
import { Died, mortal } from '../mortal.ts';
import { type Answered, openWorld, PASSENGER, type World } from '../world.ts';

/** What waits for a person is ended by one: a ticket is captured, no ticket is refunded, and never both. */

const TICKET = { decision: 'ticketed', booking_reference: 'qx7rtp' };
const silent = () => {
  throw problem('provider_failed');
};

const keyIn = async (world: World, name: string): Promise<string> => {
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  return (await keys.issue({ keyId: 'key_0', name: 'first' }, name, 'req_1')).key;
};
const deskOf =
  (world: World, key: string, call = world.call) =>
  <T = StuckItem>(path: string, body?: object): Promise<Answered<T>> =>
    call<T>(`/operator${path}`, body, { headers: { Authorization: `Bearer ${key}` } });

let world: World;
let ana: string;
let ben: string;
let desk: ReturnType<typeof deskOf>;
let offers = 0;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  [ana, ben] = [await keyIn(world, 'ana'), await keyIn(world, 'ben')];
  desk = deskOf(world, ana);
});
afterAll(() => world.close());
beforeEach(() => {
  world.airline.script.before = {};
});

/** A paid booking whose order was asked for and never answered. */
async function stuckBooking(): Promise<CreatedIntent> {
  const made = await world.intent(`off_stuck_${offers++}`);
  world.airline.script.before = { createOrder: silent, findOrder: silent };
  await world.book(made);
  await world.work(3_600_000);
  expect(await bookingOf(made)).toMatchObject({ state: 'stuck', stuck_in: 'ordering' });
  return made;
}

const bookingOf = ({ intent_id }: CreatedIntent, on: World = world) =>
  on.store.selectFrom('bookings').selectAll().where('intent_id', '=', intent_id).executeTakeFirstOrThrow();
const effectsOf = ({ intent_id }: CreatedIntent, kind: 'airline_order' | 'capture' | 'refund', on = world) =>
  on.store
    .selectFrom('effects')
    .select('state')
    .where('subject', '=', intent_id)
    .where('kind', '=', kind)
    .where('state', '=', 'done')
    .execute();
const mailsOf = async ({ intent_id }: CreatedIntent, on: World = world) => {
  const rows = await on.store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('intent_id', '=', intent_id)
    .where('kind', '=', 'email')
    .execute();
  return rows.map((row) => row.dedup_key.split(':')[1]).sort();
};
const pagesOf = async ({ intent_id }: CreatedIntent) => {
  const rows = await world.store
    .selectFrom('outbox')
    .select('dedup_key')
    .where('intent_id', '=', intent_id)
    .where('kind', '=', 'page')
    .execute();
  return rows.map((row) => row.dedup_key.split(':')[1]);
};
const at = (made: { intent_id: string }) => `/stuck/${made.intent_id}`;
const moved = async (from: Awaited<ReturnType<World['sums']>>, made: CreatedIntent, on: World = world) => {
  const now = await on.sums(made);
  expect(now.total).toBe(from.total);
  return { treasury: now.treasury - from.treasury, refund: now.refund - from.refund, vault: now.vault };
};

test('a booking that waits for a person says so in its intent, from that moment on and until it is decided', async () => {
  const made = await stuckBooking();
  const { updated_at_ms: sinceMs } = await bookingOf(made);
  expect((await world.show(made)).operator_review_since).toBe(new Date(sinceMs).toISOString());
  expect((await world.show(made)).status).toBe('active');
  const decided = await desk(`${at(made)}/resolve`, TICKET);
  expect(decided.status, JSON.stringify(decided.body)).toBe(200);
  await world.work();
  expect(await world.show(made)).toMatchObject({ status: 'booked', operator_review_since: null });
});

describe('a booking whose outcome nobody knows', () => {
  test('is listed and shown with what chain and airline say, and what each decision would move', async () => {
    const made = await stuckBooking();
    const listed = (await desk<Stuck>('/stuck')).body;
    expect(listed.bookings.map((one) => one.intent_id)).toContain(made.intent_id);
    const before = await world.sums(made);
    const { body } = await desk(at(made));
    expect(body).toMatchObject({
      kind: 'booking',
      is_stuck: true,
      stuck_in: 'ordering',
      reason: 'outcome_unknown',
      escrow: { state: 'open', held_amount: made.escrow.amount },
      airline: { status: 'unknown' },
      decided: null,
    });
    expect(body.decisions.map((one) => [one.decision, one.refusal])).toEqual([
      ['ticketed', null],
      ['not_ticketed', null],
      ['retry', null],
    ]);
    const plan = await desk<StuckPlan>(`${at(made)}/resolve`, { ...TICKET, dry_run: true });
    expect(plan.body).toMatchObject({ dry_run: true, decision: 'ticketed', amount: made.escrow.amount });
    expect(plan.body.steps.join('\n')).toContain(made.escrow.address);
    expect(await world.sums(made)).toEqual(before);
    expect((await bookingOf(made)).state).toBe('stuck');
    expect((await desk('/stuck/int_nothing')).body).toMatchObject({ code: 'stuck_not_found' });
    expect((await desk(`${at(made)}/resolve`, { decision: 'ticketed' })).status).toBe(400);
    expect((await desk(`${at(made)}/resolve`, { ...TICKET, decision: 'retry' })).status).toBe(400);
    expect((await desk(`${at(made)}/resolve`, { decision: 'cancelled' })).body).toMatchObject({
      code: 'decision_not_possible',
      detail: { reason: 'other_kind' },
    });
  });

  test('ticketed: the order is recorded, the money captured, the traveller told; once', async () => {
    const made = await stuckBooking();
    const before = await world.sums(made);
    const documents = [{ type: 'electronic_ticket', number: '999-1234567890' }];
    const answers = await Promise.all([
      desk(`${at(made)}/resolve`, { ...TICKET, documents }),
      deskOf(world, ben)(`${at(made)}/resolve`, { decision: 'not_ticketed' }),
      deskOf(world, ben, world.service().call)(`${at(made)}/resolve`, { ...TICKET, documents }),
    ]);
    expect(answers.map((one) => one.status).sort()).toEqual([200, 409, 409]);
    const lost = answers.filter((one) => one.status === 409).map((one) => one.body as unknown as { code: string });
    expect(lost.map((one) => one.code)).toEqual(['stuck_already_resolved', 'stuck_already_resolved']);
    await world.work();
    const shown = await world.show(made);
    const ended = (await desk(at(made))).body;
    const won = ended.decided?.decision;
    expect(shown.status).toBe(won === 'ticketed' ? 'booked' : 'refunded');
    expect((await effectsOf(made, 'capture')).length + (await effectsOf(made, 'refund')).length).toBe(1);

    const other = await stuckBooking();
    const start = await world.sums(other);
    const done = await desk(`${at(other)}/resolve`, { ...TICKET, documents });
    expect(done.body).toMatchObject({ is_stuck: false, state: 'booked', decided: { by: 'ana' } });
    expect(await moved(start, other)).toEqual({ treasury: BigInt(other.escrow.amount), refund: 0n, vault: 0n });
    const booked = await world.show(other);
    expect(booked).toMatchObject({ status: 'booked', refund_reason: null });
    expect(await mailsOf(other)).toEqual(['booked', 'booking_requested']);
    const order = await world.paid<Order>(`/air/orders/${booked.order_id}`, undefined, {
      headers: { 'X-Customer-Support-Code': other.customer_support_code },
    });
    expect(order.body).toMatchObject({ status: 'ticketed', booking_reference: 'QX7RTP', documents });
    const again = await desk(`${at(other)}/resolve`, { decision: 'not_ticketed' });
    expect(again.body).toMatchObject({ code: 'stuck_already_resolved', detail: { decision: 'ticketed', by: 'ana' } });
    const trail = (await desk<AuditTrail>(`/audit?subject=${other.intent_id}`)).body.entries;
    expect(trail).toMatchObject([{ action: 'stuck.ticketed', operator: 'ana' }]);
    expect(JSON.stringify(trail)).not.toContain('QX7RTP');
    expect(before.total).toBeGreaterThan(0n);
  });

  test('not_ticketed: the money goes back, the order is never asked for again, the traveller is told', async () => {
    const made = await stuckBooking();
    const before = await world.sums(made);
    const done = await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' });
    expect(done.body).toMatchObject({ is_stuck: false, state: 'refunded' });
    expect(await moved(before, made)).toEqual({ treasury: 0n, refund: BigInt(made.escrow.amount), vault: 0n });
    expect(await world.show(made)).toMatchObject({ status: 'refunded', refund_reason: 'not_ticketed' });
    expect(await mailsOf(made)).toEqual(['booking_requested', 'refunded']);
    const created = world.airline.script.created;
    world.clock.advance(26 * 3_600_000);
    await world.work();
    expect(world.airline.script.created).toBe(created);
    expect((await desk<Stuck>('/stuck')).body.effects.map((one) => one.subject)).not.toContain(made.intent_id);
  });

  test('retry: it is asked about again, and ordered no second time', async () => {
    const made = await stuckBooking();
    // The order had arrived after all.
    await orderAtAirline(made);
    world.airline.script.before = {};
    const created = world.airline.script.created;
    expect((await desk(`${at(made)}/resolve`, { decision: 'retry' })).body.state).toBe('booked');
    expect(world.airline.script.created).toBe(created);
    expect((await world.show(made)).status).toBe('booked');
  });
});

/** The order exists at the airline, whatever became of its answer. */
async function orderAtAirline(made: CreatedIntent): Promise<void> {
  world.airline.script.before = {};
  await world.provider?.createOrder({
    reference: made.intent_id,
    offerId: made.offer_id,
    expectedAmountDecimal: '151.20',
    passengers: [PASSENGER],
  });
}

describe('a decision against the facts is 409 decision_not_possible, and moves nothing:', () => {
  const refused = async (made: CreatedIntent, body: object) => {
    const before = await world.sums(made);
    const answer = await desk<{ code: string; detail: { reason: string } }>(`${at(made)}/resolve`, body);
    expect([answer.status, answer.body.code]).toEqual([409, 'decision_not_possible']);
    await world.work();
    expect(await world.sums(made)).toEqual(before);
    expect((await bookingOf(made)).state).toBe('stuck');
    return answer.body.detail.reason;
  };

  test('ticketed, once anybody has refunded on chain; what is left to say is that it went back', async () => {
    const made = await stuckBooking();
    const before = await world.sums(made);
    await refundByAnybody(made);
    expect(await refused(made, TICKET)).toBe('escrow_refunded');
    const done = await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' });
    expect(done.body.state).toBe('refunded');
    expect(await moved(before, made)).toEqual({ treasury: 0n, refund: BigInt(made.escrow.amount), vault: 0n });
    expect((await world.show(made)).status).toBe('refunded');
  });

  test('ticketed, when the airline says that it never had such an order: a ticket is believed from it alone', async () => {
    const made = await stuckBooking();
    world.airline.script.before = {};
    expect(await refused(made, TICKET)).toBe('airline_has_no_order');
    const shown = (await desk(at(made))).body;
    expect([shown.airline?.status, shown.decisions.map(({ refusal }) => refusal)]).toEqual([
      'none',
      ['airline_has_no_order', null, null],
    ]);
    expect((await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' })).body.state).toBe('refunded');
  });

  test('not_ticketed, when the airline has a ticket by now; ticketed, when it has cancelled', async () => {
    const made = await stuckBooking();
    await orderAtAirline(made);
    expect(await refused(made, { decision: 'not_ticketed' })).toBe('airline_ticketed');
    world.airline.script.cancelsTickets = true;
    await world.provider?.cancel(`air_${made.intent_id}`);
    world.airline.script.cancelsTickets = false;
    expect(await refused(made, TICKET)).toBe('airline_cancelled');
    expect((await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' })).body.state).toBe('refunded');
  });

  test.each([
    ['refund', TICKET, 'refund_under_way'],
    ['capture', { decision: 'not_ticketed' }, 'capture_under_way'],
  ] as const)('while a %s of ours may still land', async (kind, decision, reason) => {
    const made = await stuckBooking();
    await world.store
      .insertInto('effects')
      .values({
        effect_id: `eff_${kind}_under_way`,
        kind,
        subject: made.intent_id,
        state: 'sent',
        live_key: `${kind}:${made.intent_id}`,
        attempt: 1,
        transaction: null,
        signature: '5'.repeat(87),
        last_valid_block_height: 1_000_000_000,
        reference: null,
        result: null,
        error: null,
        created_at_ms: world.clock.now(),
        updated_at_ms: world.clock.now(),
      })
      .execute();
    expect(await refused(made, decision)).toBe(reason);
  });
});

/** What the program lets anybody do after the deadline. */
async function refundByAnybody(made: CreatedIntent): Promise<void> {
  const ids = randomIds(world.clock.now);
  const effects = createEffects({ ...world, ids, log: silentLog });
  const treasury = world.treasury.address;
  const ports = { ...world, effects, treasury, escrowProgram: ESCROW_PROGRAM_ID } as unknown as FlightsPorts;
  const intent = await world.store
    .selectFrom('intents')
    .selectAll()
    .where('intent_id', '=', made.intent_id)
    .executeTakeFirstOrThrow();
  await createEscrows(ports).refund(intent, undefined);
  // Nothing of it is known as an act of ours for this intent.
  await world.store
    .updateTable('effects')
    .set({ subject: 'anybody', live_key: null })
    .where('subject', '=', made.intent_id)
    .where('kind', '=', 'refund')
    .execute();
}

test('a confirmation that arrives between the decision and the refund wins: the ticket is captured', async () => {
  const made = await stuckBooking();
  const before = await world.sums(made);
  let asked = 0;
  world.airline.script.before.findOrder = async () => {
    // Silent while the operator decides, there when the worker asks once more.
    if (++asked < 2) return silent();
    await orderAtAirline(made);
  };
  const done = await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' });
  expect(done.body.state).toBe('booked');
  expect(await moved(before, made)).toEqual({ treasury: BigInt(made.escrow.amount), refund: 0n, vault: 0n });
  expect(await world.show(made)).toMatchObject({ status: 'booked', refund_reason: null });
  expect(await effectsOf(made, 'airline_order')).toHaveLength(1);
});

test.each(cases(['confirmed'] as const, ['pending'] as const))(
  'the money stays while the airline shows an order (%s) that it does not cancel, whatever a person heard',
  async (status) => {
    const made = await stuckBooking();
    await orderAtAirline(made);
    const before = await world.sums(made);
    Object.assign(world.airline.script, { status, keepsOrders: true });
    try {
      await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' });
      await world.work(6 * 3_600_000);
      expect(await world.sums(made)).toEqual(before);
      expect(await bookingOf(made)).toMatchObject({ state: 'stuck', last_error: 'order_not_cancelled' });
      world.airline.script.before.cancel = silent;
      await desk(`${at(made)}/resolve`, { decision: 'not_ticketed' });
      await world.work(6 * 3_600_000);
      expect(await world.sums(made)).toEqual(before);
      world.airline.script.before = {};
      world.airline.end(made.intent_id);
      expect((await desk(`${at(made)}/resolve`, { decision: 'retry' })).body.state).toBe('refunded');
    } finally {
      Object.assign(world.airline.script, { status: 'ticketed', keepsOrders: false });
    }
  },
);

test('a step that breaks in a way nobody foresaw is paged and stuck in the end, and goes on when it is retried', async () => {
  const made = await world.intent(`off_stuck_${offers++}`);
  world.airline.script.before.findOrder = () => {
    throw new TypeError('cannot read properties of undefined');
  };
  world.airline.script.before.createOrder = silent;
  await world.book(made);
  await world.work(7_200_000);
  expect(await bookingOf(made)).toMatchObject({ state: 'stuck', last_error: 'step_failed' });
  expect(await pagesOf(made)).toEqual(['booking_stuck']);
  world.airline.script.before = {};
  expect((await desk(`${at(made)}/resolve`, { decision: 'retry' })).body.state).toBe('booked');
});

proofTest('a step that fails for a known reason is told once, and tried further', async () => {
  const made = await world.intent(`off_stuck_${offers++}`);
  await world.book(made);
  const ill = world.service((ports) => ({
    ...ports,
    cluster: { ...ports.cluster, latestBlockhash: () => Promise.reject(problem('cluster_failed')) },
  }));
  await world.work(7_200_000, ill.worker);
  expect((await bookingOf(made)).state).toBe('capturing');
  expect(await pagesOf(made)).toEqual(['booking_slow']);
  world.clock.advance(61_000);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
});

describe('on the slower tier, where pay was pressed and no confirmation came,', () => {
  let slow: World;
  let slowDesk: ReturnType<typeof deskOf>;
  beforeAll(async () => {
    slow = await openWorld({ lowcostMs: 60_000, ticketingMs: 0 });
    slowDesk = deskOf(slow, await keyIn(slow, 'ana'));
  });
  afterAll(() => slow.close());

  async function pressed(): Promise<CreatedIntent> {
    const made = await lowcostIntent(slow, 'LCY', 'STN');
    await slow.book(made, [TRAVELLER]);
    await slow.work(300_000);
    expect(await bookingOf(made, slow)).toMatchObject({
      state: 'stuck',
      last_error: 'payment_pressed_no_confirmation',
    });
    return made;
  }

  test.each([
    [TICKET, 'booked'],
    [{ decision: 'not_ticketed' }, 'refunded'],
  ])('a person ends it: %o makes it %s', async (body, status) => {
    const made = await pressed();
    const before = await slow.sums(made);
    expect((await slowDesk(`${at(made)}/resolve`, body)).body.state).toBe(status);
    const amount = BigInt(made.escrow.amount);
    expect(await moved(before, made, slow)).toEqual(
      status === 'booked' ? { treasury: amount, refund: 0n, vault: 0n } : { treasury: 0n, refund: amount, vault: 0n },
    );
    expect((await slow.show(made)).status).toBe(status);
    expect(await mailsOf(made, slow)).toContain(status);
    expect((await slowDesk<Stuck>('/stuck')).body).toMatchObject({ bookings: [], effects: [] });
  });

  test('a ticket that only a person knew of is cancelled by one: its approved refund waits for that at once, and is paid', async () => {
    const made = await pressed();
    await slowDesk(`${at(made)}/resolve`, TICKET);
    await slow.paid(
      '/air/refund-requests',
      { intent_id: made.intent_id, reason: 'I broke a leg.' },
      {
        headers: {
          'X-Customer-Support-Code': made.customer_support_code,
          'X-Passenger-Family-Name': TRAVELLER.family_name,
        },
      },
    );
    const before = await slow.sums(made);
    const amount = BigInt(made.escrow.amount) / 2n;
    const terms = { payout_amount: Number(amount), note: 'agreed by telephone' };
    const approved = (await slowDesk<RefundCase>(`/refund-requests/${made.intent_id}/approve`, terms)).body;
    expect([approved.status, approved.last_error]).toEqual(['stuck', 'cancel_by_hand']);
    expect(await moved(before, made, slow)).toMatchObject({ treasury: 0n, refund: 0n });
    const ended = await slowDesk(`/stuck/${approved.request_id}/resolve`, { decision: 'cancelled' });
    expect(ended.status).toBe(200);
    expect(await moved(before, made, slow)).toMatchObject({ refund: amount });
    expect((await slow.show(made)).status).toBe('refunded');
  });

  test('a person is told to ask the carrier by what it was given', async () => {
    const made = await pressed();
    const { ask } = (await slowDesk<StuckItem>(at(made))).body;
    expect(ask).toContain(`our reference ${made.intent_id}`);
    expect(ask).not.toContain('lowcost:');
  });

  test('a retry asks the website again, presses nothing, and waits for a person once more', async () => {
    const made = await pressed();
    const before = await slow.sums(made);
    const again = await slowDesk(`${at(made)}/resolve`, { decision: 'retry' });
    expect(again.body).toMatchObject({ is_stuck: true, reason: 'payment_pressed_no_confirmation' });
    expect(await moved(before, made, slow)).toMatchObject({ treasury: 0n, refund: 0n });
  });
});

describe('the service dies while a decision is carried out', () => {
  /** Between the moments at which it dies, from a random first one. */
  const STRIDE = everyNth(19);

  test.each(cases<[{ decision: string }]>([[{ decision: 'not_ticketed' }]], [[TICKET]]))(
    '%o is carried out once, or nothing happened and it is decided again',
    async (body) => {
      let deaths = 0;
      for (let diesAt = 1 + Math.floor(Math.random() * STRIDE); ; diesAt += STRIDE) {
        const made = await stuckBooking();
        const before = await world.sums(made);
        const { wrap, died } = mortal(diesAt);
        const doomed = world.service(wrap);
        await deskOf(world, ana, doomed.call)(`${at(made)}/resolve`, body);
        await doomed.worker.runDue().catch((error: unknown) => {
          if (!(error instanceof Died)) throw error;
        });
        world.clock.advance(61_000);
        await world.work();
        if ((await bookingOf(made)).state === 'stuck') await desk(`${at(made)}/resolve`, body);
        await world.work();
        const amount = BigInt(made.escrow.amount);
        const tickets = 'booking_reference' in body;
        expect(await moved(before, made), `died at moment ${diesAt}`).toEqual({
          treasury: tickets ? amount : 0n,
          refund: tickets ? 0n : amount,
          vault: 0n,
        });
        expect((await world.show(made)).status).toBe(tickets ? 'booked' : 'refunded');
        expect(await mailsOf(made)).toEqual(
          tickets ? ['booked', 'booking_requested'] : ['booking_requested', 'refunded'],
        );
        if (!died()) break;
        deaths++;
      }
      expect(deaths).toBeGreaterThan(1);
    },
    120_000,
  );
});
