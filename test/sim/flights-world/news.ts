import { createHmac, timingSafeEqual } from 'node:crypto';
import type { AirlineMessage, Provider, ProviderOrder } from '../../../src/airlines/provider.ts';
import { problem } from '../../../src/kernel/problems.ts';
import type { World } from '../world/world.ts';
import type { Find } from './people.ts';
import type { Stage } from './stage.ts';

/** What the airline does to orders by itself, and the messages that it sends of it. */

const SECRET = 'a secret of the airline and ours';
const HOUR_MS = 3_600_000;

/** Of one order: what the airline has made of it since it sold it. */
export interface Changed {
  readonly what: 'cancelled' | 'rescheduled';
  readonly byMs: number;
  readonly atMs: number;
}

const OWN_CHANGES = { cancelled: 0.12, rescheduled: 0.2 };
const MESSAGE_FAULTS = { lost: 0.2, late: 0.2, twice: 0.2, forged: 0.15 };
const LATEST_MS = 20 * 60_000;

const signatureOf = (body: Uint8Array): string => createHmac('sha256', SECRET).update(body).digest('hex');

/** Takes a message in, as a provider does: nothing in it counts but the orders that it names. */
export async function receive({ body, headers }: AirlineMessage): Promise<readonly string[]> {
  const given = Buffer.from(headers['x-airline-signature'] ?? '');
  const should = Buffer.from(signatureOf(body));
  if (given.length !== should.length || !timingSafeEqual(given, should)) throw problem('unauthorized');
  return (JSON.parse(Buffer.from(body).toString('utf8')) as { orders: string[] }).orders;
}

/** Local times, so many milliseconds later. */
const later = (local: string, byMs: number): string =>
  new Date(Date.parse(`${local}Z`) + byMs).toISOString().slice(0, local.length);

/** An order as it is now, at an airline that changes what it sold. */
export function asChanged(order: ProviderOrder, changes: ReadonlyMap<string, Changed>): ProviderOrder {
  const change = changes.get(order.reference);
  if (!change || order.status === 'cancelled') return order;
  if (change.what === 'cancelled') return { ...order, status: 'cancelled', updatedAtMs: change.atMs };
  return {
    ...order,
    updatedAtMs: change.atMs,
    slices: order.slices.map((slice) => ({
      ...slice,
      departing_at: later(slice.departing_at, change.byMs),
      arriving_at: later(slice.arriving_at, change.byMs),
      segments: slice.segments.map((segment) => ({
        ...segment,
        departing_at: later(segment.departing_at, change.byMs),
        arriving_at: later(segment.arriving_at, change.byMs),
      })),
    })),
  };
}

/** The orders of an airline, some of which it has changed by itself. */
export const withChanges = (airline: Provider, changes: ReadonlyMap<string, Changed>): Provider => ({
  ...airline,
  changesSchedules: true,
  receive,
  order: async (id) => asChanged(await airline.order(id), changes),
  cancel: async (id, quoteId) => asChanged(await airline.cancel(id, quoteId), changes),
  async findOrder(reference, offerId) {
    const found = await airline.findOrder(reference, offerId);
    return found === null || found === 'unknown' ? found : asChanged(found, changes);
  },
});

/**
 * The airline's own department of changes: it moves or cancels some of what it has sold, and sends signed messages of
 * it, some of which are late, come twice, or never. Somebody forges others.
 */
export function createDepartment(world: World, stage: Stage, find: Find) {
  const { chance } = world;
  const known = new Set<string>();

  async function send(reference: string, isForged: boolean): Promise<void> {
    const place = chance.numbered('airline message');
    const reached = find(place);
    if (!reached) return;
    const body = JSON.stringify({ orders: [reference], at: world.now() });
    const signature = isForged ? '0'.repeat(64) : signatureOf(Buffer.from(body));
    const request = {
      method: 'POST' as const,
      url: 'http://flights.sim/webhooks/airline',
      headers: { 'content-type': 'application/json', 'x-airline-signature': signature },
      body,
    };
    const answer = await reached.process
      .orGone(reached.serve(request, { clientAddress: '10.8.8.8' }))
      .catch(() => null);
    if (!answer) return;
    world.saw(`airline message: ${answer.status}`);
    if (isForged && answer.status < 300) world.violate('a forged message is refused', reference);
  }

  function tellOf(reference: string): void {
    const place = chance.numbered('news');
    const fault = chance.happens('message', place, MESSAGE_FAULTS);
    const deliver = (isForged = false) =>
      void send(reference, isForged).catch((error: unknown) => world.failed('the airline sends messages', error));
    if (fault === 'lost') return;
    if (fault === 'forged') {
      deliver(true);
      return;
    }
    world.after(fault === 'late' ? chance.part(place) * LATEST_MS : 500, () => deliver());
    if (fault === 'twice') world.after(1_000 + chance.part(place) * LATEST_MS, () => deliver());
  }

  return {
    /** Looks at what was ticketed since, and changes some of it. */
    async look(): Promise<void> {
      const booked = (await stage.query(
        `select intent_id, amount from intents where status = 'booked' and offer_id not like 'lowcost:%' order by intent_id`,
      )) as readonly { intent_id: string; amount: number }[];
      for (const { intent_id: id } of booked) {
        if (known.has(id)) continue;
        known.add(id);
        const place = chance.numbered('order');
        const what = chance.happens('own change', place, OWN_CHANGES);
        if (what === null) continue;
        const byMs = Math.round(1 + chance.part(place) * 5) * HOUR_MS;
        stage.changes.set(id, { what: what === 'cancelled' ? 'cancelled' : 'rescheduled', byMs, atMs: world.now() });
        world.tell('airline', what === 'cancelled' ? 'cancels a flight that it sold' : 'moves a flight by hours');
        world.saw(`airline by itself: ${what}`);
        tellOf(id);
      }
    },
  };
}
