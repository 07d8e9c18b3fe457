import type { Address } from '@solana/kit';
import { createDuffelProvider } from '../../src/airlines/duffel/index.ts';
import { readEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import type { FlightsOptions } from '../../src/flights/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { HttpResponse } from '../../src/kernel/http.ts';
import { isProblem } from '../../src/kernel/problems.ts';
import { ORDER_BEHAVIOURS, type OrderBehaviour, type OrderBehaviourName } from '../../src/sandbox/duffel/behaviours.ts';
import type { CreatedIntent } from '../../src/wire/flights/index.ts';
import { type ServedDuffel, searched, serveDuffel } from '../sandbox/duffel/served.ts';
import type { Books } from '../sandbox/duffel/shapes.ts';
import { AFTERS, type After, played, type Returned, wrongReturns } from './duffel-returns.ts';
import { Died, mortal } from './mortal.ts';
import { openWorld, PASSENGER, type Ports, type World } from './world.ts';

/**
 * Journeys through the real flight service, the real adapter and the double of the Duffel API over HTTP, with a fault in
 * each: at the airline, on the way, in the webhooks, and in the worker, which dies at a moment of chance. Afterwards the
 * airline's books are held against ours.
 */

const WEBHOOK = { url: 'http://farelock.test/webhooks/duffel', secret: 'QKfUULLQh+8SegYmIsF6kA==' };
const DATE = '2027-01-20';
const STEP_MS = 2_000;
const ROUTES = ['VIE LIS', 'LHR JFK', 'CDG DXB', 'SYD SIN', 'LIS BER', 'LAX JFK'];

export interface Fault {
  readonly order: OrderBehaviourName;
  /** Of a second order, where the first was refused and may be asked for again. */
  readonly second: OrderBehaviourName;
  readonly webhook: string;
  /** Of the price that the worker looks at before it orders. */
  readonly offer: string | null;
  /** Of questions about orders. */
  readonly reads: readonly string[];
  /** The moment at which the first worker dies; null: it lives. */
  readonly diesAt: number | null;
  /** Another worker begins at the same time. */
  readonly isRaced: boolean;
  /** What becomes of it once it is booked. */
  readonly after: After;
}

/** The world of a flight service that sells the double's flights. */
export async function openStage(
  seed: string,
): Promise<Playing & { journey(fault: Fault, at: number): Promise<Ended>; close(): Promise<void> }> {
  const world = await openWorld({ airline: 'none' });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  let receive: (message: { body: Uint8Array; headers: Record<string, string> }) => Promise<unknown>;
  const duffel = await serveDuffel({
    clock: world.clock,
    seed,
    stepMs: STEP_MS,
    slowMs: 50,
    webhook: WEBHOOK,
    deliver: ({ body, headers }) =>
      receive({ body: Buffer.from(body), headers }).then(
        () => new HttpResponse(200, '{}'),
        () => new HttpResponse(500, '{}'),
      ),
  });
  const selling = (ports: Ports): Ports => ({
    ...ports,
    provider: createDuffelProvider({
      url: duffel.url,
      token: 'duffel_test_torture',
      store: ports.store,
      clock: ports.clock,
      log: () => undefined,
      webhookSecret: WEBHOOK.secret,
      timeoutMs: 5_000,
    }),
  });
  const service = (wrap: (ports: Ports) => Ports = (ports) => ports, options: Partial<FlightsOptions> = {}) =>
    world.service((ports) => selling(wrap(ports)), options);
  const ports = selling({
    store: world.store,
    cluster: world.cluster,
    provider: null,
    clock: world.clock,
    escrowProgram: ESCROW_PROGRAM_ID,
  });
  receive = async (message) => ports.provider?.receive?.(message);
  return {
    world,
    duffel,
    service,
    journey: (fault, at) => play({ world, duffel, service }, fault, at),
    async close() {
      await duffel.close();
      await world.close();
    },
  };
}

/** A stage, and processes of the service on it. */
export interface Playing {
  readonly world: World;
  readonly duffel: ServedDuffel;
  service(wrap?: (ports: Ports) => Ports, options?: Partial<FlightsOptions>): ReturnType<World['service']>;
}

export interface Ended {
  readonly fault: Fault;
  readonly intentId: string;
  readonly amount: bigint;
  /** Of the booking, before anything came after it. */
  readonly state: string;
  readonly why: string | null;
  readonly escrow: string;
  readonly vault: bigint;
  readonly died: boolean;
  /** null: it was not booked, or nothing came after. */
  readonly returned: Returned | null;
}

/** An intent on an offer of the double's, paid for; each journey has a traveller of its own. */
export async function paidFor({ world, duffel }: Playing, next: ReturnType<World['service']>, at: number) {
  const [origin = '', destination = ''] = (ROUTES[at % ROUTES.length] ?? '').split(' ');
  const [offer] = await searched(duffel, origin, destination, DATE, {}, 'ZZ');
  const made = await intentOf(world, next, offer.id);
  const booked = await world.paid(
    '/air/book',
    { intent_id: made.intent_id, passengers: [{ ...PASSENGER, family_name: `Lovelace${letters(at)}` }] },
    { call: next.call },
  );
  if (booked.status !== 200) throw new Error(`book: ${JSON.stringify(booked.body)}`);
  return { made, familyName: `Lovelace${letters(at)}`, amount: unitsOf(offer.total_amount) };
}

/** Runs what is due in processes of which some may die; webhooks come meanwhile, before the answers they are about, too. */
export async function whileToldOf<T>(duffel: ServedDuffel, work: () => Promise<T>): Promise<T> {
  let isWorking = true;
  const telling = (async () => {
    for (; isWorking; await systemClock.sleep(5)) await duffel.runDue();
  })();
  try {
    return await work();
  } finally {
    isWorking = false;
    await telling;
  }
}

/** What a process that died says is nobody's. */
export const unlessDied = (error: unknown): void => {
  if (!(error instanceof Died) && !isProblem(error)) throw error;
};

async function play(playing: Playing, fault: Fault, at: number): Promise<Ended> {
  const { world, duffel, service } = playing;
  const { clock, store } = world;
  const next = service();
  const { made, amount, familyName } = await paidFor(playing, next, at);
  await duffel.admin('/behaviours', {
    order: [fault.order, fault.second],
    webhook: fault.webhook,
    ...(fault.offer === null ? {} : { offer: ['normal', fault.offer] }),
    order_read: fault.reads,
  });
  const { wrap, died } = mortal(fault.diesAt ?? Number.POSITIVE_INFINITY);
  const workers = [service(wrap), ...(fault.isRaced ? [service()] : [])];
  await whileToldOf(duffel, () => Promise.all(workers.map(({ worker }) => worker.runDue().catch(unlessDied))));
  // The others' leases run out, the webhooks come, and time does the rest.
  for (const ms of [1, 61_000, 30 * 60_000]) {
    clock.advance(ms);
    await duffel.runDue();
    await world.work(undefined, next.worker);
  }
  await duffel.admin('/behaviours', { order: 'normal', offer: 'normal', order_read: 'normal', webhook: 'normal' });
  const booking = await store
    .selectFrom('bookings')
    .select(['state', 'last_error', 'refund_reason'])
    .where('intent_id', '=', made.intent_id)
    .executeTakeFirstOrThrow();
  const returned = booking.state === 'booked' ? await played(playing, { made, familyName, after: fault.after }) : null;
  const escrow = await readEscrow(world.cluster, made.escrow.address as Address, [ESCROW_PROGRAM_ID]);
  return {
    fault,
    intentId: made.intent_id,
    amount,
    state: booking.state,
    why: booking.refund_reason ?? booking.last_error,
    escrow: escrow?.state ?? 'none',
    vault: (await world.sums(made)).vault,
    died: died(),
    returned,
  };
}

async function intentOf(world: World, { call }: ReturnType<World['service']>, offerId: string): Promise<CreatedIntent> {
  const answer = await world.paid<CreatedIntent>(
    '/air/intents',
    { funding_wallet: world.wallet.address, refund_wallet: world.refundWallet.address, offer_id: offerId },
    { call },
  );
  if (answer.status !== 201) throw new Error(`intent: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A number as letters: nobody has digits in his name. */
const letters = (at: number): string => [...String(at)].map((digit) => 'abcdefghij'.charAt(Number(digit))).join('');

/** A fault for every journey: each order behaviour in turn, the rest by chance. */
export function faultOf(at: number, chance: () => number): Fault {
  const orders = Object.keys(ORDER_BEHAVIOURS) as OrderBehaviourName[];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  return {
    // Not in the order of the table: a short run meets every kind.
    order: orders[(at * 7) % orders.length] ?? 'normal',
    second: pick([
      'normal',
      'normal',
      'cut_after',
      'gateway_timeout_made',
      'accepted',
      'unavailable',
      'unavailable_made',
      'forbidden_made',
      'unauthorized_made_later',
    ]),
    webhook: pick(['normal', 'normal', 'late', 'twice', 'shuffled', 'lost']),
    offer: chance() < 0.75 ? null : pick(['internal_error', 'html', 'rate_limited', 'price_up', 'gone', 'cut']),
    reads: pick([[], [], ['internal_error', 'html', 'cut'], ['empty', 'empty'], ['rate_limited'], ['not_found']]),
    diesAt: chance() < 0.6 ? 1 + Math.floor(chance() * 90) : null,
    isRaced: chance() < 0.3,
    after: AFTERS[at % AFTERS.length] ?? 'flown',
  };
}

/** Faults of one journey against the airline's books, in words; none is what is wanted. */
export function disagreements(ended: Ended, books: Books): string[] {
  const { intentId, state, escrow, fault, vault, amount, returned } = ended;
  const orders = books.orders.filter(({ reference }) => reference === intentId);
  const live = orders.filter(({ cancelled_at }) => cancelled_at === null);
  const attempts = books.attempts.filter(({ reference }) => reference === intentId);
  const wasDefinite = attempts.length > 0 && attempts.every(isCertain);
  const isRight: readonly [string, boolean][] = [
    ['one order for a reference', orders.length <= 1],
    ['nothing is left that time should move', ['booked', 'refunded', 'stuck'].includes(state)],
    ['a ticket is captured, and a capture has its ticket', (escrow === 'captured') === (state === 'booked')],
    ['what is booked is at the airline', state !== 'booked' || orders.length === 1],
    ['what is booked was paid to the unit', state !== 'booked' || paidUnits(orders) === amount],
    ['a ticket lives until it is given back', state !== 'booked' || (live.length === 0) === (returned !== null)],
    ...(returned ? wrongReturns(returned, amount, orders[0]) : []),
    ['a refund leaves no order behind', state !== 'refunded' || (live.length === 0 && escrow === 'refunded')],
    ['what nobody knows is not refunded', state !== 'refunded' || !attempts.some(isOpenOutcome)],
    ['what waits for a person keeps its money', state !== 'stuck' || vault === amount],
    ['what the airline shows waits for nobody', state !== 'stuck' || !live.some(({ is_listed }) => is_listed)],
    ['a certain refusal waits for nobody', state !== 'stuck' || !wasDefinite || ended.died || fault.isRaced],
    [
      'a second order follows a certain refusal alone',
      attempts.slice(0, -1).every((attempt) => isCertain(attempt) || isDenied(attempt, fault)),
    ],
  ];
  return isRight.filter(([, holds]) => !holds).map(([rule]) => rule);
}

/** An answer that says for certain that nothing was ordered. */
function isCertain({ behaviour, status }: { behaviour: OrderBehaviourName | null; status: number }): boolean {
  if (behaviour === null) return status === 422;
  const { frees, answer }: OrderBehaviour = ORDER_BEHAVIOURS[behaviour];
  return frees === true && answer !== 'cut' && answer !== 'rate_limit_exceeded';
}

/**
 * An order that the airline denies twice in its own form: by a false refusal, and by a list that is empty when it is asked
 * for. Nobody could tell that from the truth; the airline's own check for a second booking is what is left.
 */
const isDenied = ({ behaviour }: { behaviour: OrderBehaviourName | null }, { reads }: Fault): boolean =>
  (behaviour === 'refused_made' || behaviour === 'unavailable_made') && reads.includes('empty');

/** An answer after which there may be an order, whatever the airline really did. */
const isOpenOutcome = ({ behaviour }: { behaviour: OrderBehaviourName | null }): boolean =>
  behaviour !== null &&
  ['cut', 'html', 'html_401', 'text_403', 'internal_server_error', 'airline_unknown', 'gateway_timeout_error'].includes(
    ORDER_BEHAVIOURS[behaviour].answer,
  );

const paidUnits = (orders: Books['orders']): bigint =>
  orders.reduce((sum, { total_amount }) => sum + unitsOf(total_amount), 0n);

const unitsOf = (decimal: string): bigint => BigInt(Math.round(Number(decimal) * 1e6));
