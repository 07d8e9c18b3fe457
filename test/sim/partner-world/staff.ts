import { ORDER_STATUSES, type OrderStatus, TRANSITIONS } from '../../../src/kernel/domain/order-moves.ts';
import type { Order, UpdateOrderRequest, UpdateOrderResponse } from '../../../src/wire/partner/schema.ts';
import type { World } from '../world/world.ts';
import type { History, Update } from './history.ts';
import { type Came, createPerson, type Find } from './people.ts';
import type { Held } from './platform-books.ts';
import { PARTNERS, type Slug, type Stage } from './stage.ts';
import type { Truth } from './truth.ts';

/** What somebody at a partner knows of an order: from the platform, or from the last answer. */
interface Known {
  readonly status: OrderStatus;
  readonly version: number;
}

interface Surroundings {
  readonly find: Find;
  readonly truth: Truth;
  readonly history: History;
}

/** An update as it is sent: the same in every try. */
interface Sent extends Update {
  readonly key: string | null;
}

export type Staff = ReturnType<typeof createStaff>;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Somebody, or a script, at a partner: moves its orders along, and at times in ways that must not work. */
export function createStaff(
  world: World,
  stage: Stage,
  who: { readonly slug: Slug; readonly role: 'office' | 'desk' },
  { find, truth, history }: Surroundings,
) {
  const { chance } = world;
  const { slug, role } = who;
  const name = `${slug}-${role}`;
  const person = createPerson(world, stage, name, find, { apiKey: stage.template.apiKeys[slug] });
  const known = new Map<string, Known>();
  let count = 0;

  const learnt = (order: Order): void => {
    const before = known.get(order.id);
    if (!before || before.version <= order.version)
      known.set(order.id, { status: order.status, version: order.version });
  };

  const send = (label: string, { input, ifMatch, key }: Sent): Promise<Came<UpdateOrderResponse>> =>
    person.persist(
      label,
      ({ client }) =>
        client.updateOrder(input, {
          ...(key === null ? {} : { idempotencyKey: key }),
          ...(ifMatch === null ? {} : { ifMatch: String(ifMatch) }),
        }),
      { tries: key === null && ifMatch === null ? 2 : 6, longestPauseMs: 15_000 },
    );

  function heard(sent: Sent, came: Came<UpdateOrderResponse>): void {
    if (came.kind === 'ok') {
      history.updated(came, sent, came.value.order);
      learnt(came.value.order);
      world.saw('an update is acknowledged');
    } else if (came.kind === 'refused') {
      // Refused again as it was the first time: what the first try met counts.
      history.refused(came, sent, came.problem);
      world.saw(`an update is refused: ${came.problem.code}`);
    }
  }

  /** The next step of an order, or something else about it, with all that the step needs. */
  function updateOf(held: Held, place: string, to: OrderStatus | null): UpdateOrderRequest {
    const n = ++count;
    const some = (what: string, odds: number) => chance.part(`${place} ${what}`) < odds;
    return {
      orderId: held.orderId,
      ...(to === null ? {} : { status: to }),
      ...(to === 'ERROR' || some('reason', 0.15) ? { reason: `${name} ${n}` } : {}),
      ...(some('source', to === 'FUNDS_RECEIVED' || to === 'REFUNDING' ? 0.6 : 0.05)
        ? // Of one order there is one; now and then somebody mistypes it.
          { sourceTransactionId: some('mistyped', 0.1) ? `s-${name}-${n}` : `s-${held.orderId}` }
        : {}),
      ...(to === null || some('destination', 0.5) ? { destinationTransactionId: `d-${name}-${n}` } : {}),
      ...(to === 'REFUNDING' && some('return', 0.8) ? { returnDetails: { reason: 'sent back' } } : {}),
      ...(some('amount', 0.1) ? { toAmount: `${10 + n}.25` } : {}),
    } as UpdateOrderRequest;
  }

  function sentOf(held: Held, place: string, to: OrderStatus | null, stale = false): Sent {
    const input = updateOf(held, place, to);
    const version = known.get(held.orderId)?.version ?? 1;
    const ifMatch = stale ? Math.max(0, version - 1) : chance.part(`${place} match`) < 0.5 ? version : null;
    const key = chance.part(`${place} key`) < 0.7 ? `${name}-${count}` : null;
    if (input.destinationTransactionId !== undefined && (key !== null || ifMatch !== null))
      truth.onlyOnce(input.destinationTransactionId);
    return { input, ifMatch, key };
  }

  const forward = (held: Held, place: string): OrderStatus | null => {
    const from = known.get(held.orderId)?.status ?? held.status;
    const ways = Object.keys(TRANSITIONS[from]) as OrderStatus[];
    return ways[Math.floor(chance.part(`${place} way`) * ways.length)] ?? null;
  };

  /** One update; at times it is sent once more after its answer, and has to be answered as it was. */
  async function update(held: Held, place: string, to: OrderStatus | null, stale = false): Promise<void> {
    const sent = sentOf(held, place, to, stale);
    const label = `${to ?? 'adds to'} ${held.orderId.slice(-6)}`;
    const came = await send(label, sent);
    heard(sent, came);
    if (sent.key === null || came.kind === 'unknown' || chance.part(`${place} repeat`) > 0.3) return;
    await world.sleep(chance.pauseMs(`${place} repeat`, 30_000));
    const again = await send(`${label} again`, sent);
    if (again.kind === 'unknown') return;
    world.saw('an update is repeated after its answer');
    const isSame =
      came.kind === 'ok'
        ? again.kind === 'ok' && same(again.value, came.value)
        : again.kind === 'refused' && again.problem.code === came.problem.code;
    if (!isSame)
      world.violate(
        'the first answer is given again',
        `${name}: ${sent.key} was ${came.kind}, then ${again.kind === 'refused' ? again.problem.code : again.kind}`,
      );
  }

  /** The same update twice at once: one change, and one answer. */
  async function twice(held: Held, place: string): Promise<void> {
    const sent = { ...sentOf(held, place, forward(held, place)), key: `${name}-${count}` };
    if (sent.input.destinationTransactionId !== undefined) truth.onlyOnce(sent.input.destinationTransactionId);
    const label = `${sent.input.status ?? 'adds to'} ${held.orderId.slice(-6)} twice`;
    const [one, other] = await Promise.all([send(label, sent), send(label, sent)]);
    heard(sent, one);
    heard(sent, other);
    if (one.kind === 'unknown' || other.kind === 'unknown') return;
    world.saw('an update comes twice at once');
    const isSame =
      one.kind === 'ok' && other.kind === 'ok'
        ? same(one.value, other.value)
        : one.kind === 'refused' && other.kind === 'refused' && one.problem.code === other.problem.code;
    if (!isSame) world.violate('the first answer is given again', `${name}: ${sent.key} had two`);
  }

  /** One key for two updates: what is not the first is refused. */
  async function reused(held: Held, place: string): Promise<void> {
    const first = { ...sentOf(held, place, forward(held, place)), key: `${name}-${count}` };
    const came = await send(`takes a key for ${held.orderId.slice(-6)}`, first);
    heard(first, came);
    const second = { ...sentOf(held, `${place} second`, null), key: first.key };
    const other = await send(`takes it again for ${held.orderId.slice(-6)}`, second);
    if (other.kind === 'refused' && other.problem.code === 'idempotency_key_reused') {
      world.saw('an update comes with a used key');
      return;
    }
    if (came.kind !== 'unknown' && other.kind !== 'unknown')
      world.violate('a key that was used is not for something else', `${first.key} was`);
    heard(second, other);
  }

  async function read(held: Held): Promise<void> {
    const came = await person.persist(
      `reads ${held.orderId.slice(-6)}`,
      async ({ client }) => {
        const askedMs = world.now();
        return { askedMs, ...(await client.order(held.orderId, { includeHistory: true })) };
      },
      { tries: 3, longestPauseMs: 5_000 },
    );
    if (came.kind !== 'ok') return;
    const { askedMs, order, history: changes = [] } = came.value;
    history.sawWithHistory({ ...came, firstMs: askedMs }, order, changes);
    learnt(order);
    world.saw('an order is read with its history');
  }

  /** Another partner's order is none: it is not shown, and not moved. */
  async function peek(place: string): Promise<void> {
    const others = PARTNERS.filter((one) => one !== slug).flatMap((one) => stage.platform.ordersOf(one));
    const other = others[Math.floor(chance.part(`${place} other`) * others.length)];
    if (!other) return;
    if (chance.part(`${place} moves`) < 0.5) {
      const input: UpdateOrderRequest = { orderId: other.orderId, status: 'CANCELED', reason: name };
      const moved = await send('moves another’s', { input, ifMatch: null, key: null });
      if (moved.kind === 'ok' || (moved.kind === 'refused' && moved.problem.code !== 'order_not_found'))
        world.violate('another’s order is none', `${name} moved ${other.orderId}`);
      else if (moved.kind === 'refused') world.saw('an update is refused: order_not_found');
      return;
    }
    const came = await person.persist('looks at another’s', ({ client }) => client.order(other.orderId), { tries: 2 });
    if (came.kind === 'ok' || (came.kind === 'refused' && came.problem.code !== 'order_not_found'))
      world.violate('another’s order is none', `${name} was shown ${other.orderId}`);
    else if (came.kind === 'refused') world.saw('another’s order is none');
  }

  async function act(held: Held, place: string): Promise<void> {
    const drawn = chance.part(`${place} act`);
    if (drawn < 0.48) return update(held, place, forward(held, place));
    if (drawn < 0.56) return update(held, place, chance.pick(`${place} wild`, ORDER_STATUSES));
    if (drawn < 0.63) return update(held, place, forward(held, place), true);
    if (drawn < 0.71) return update(held, place, null);
    if (drawn < 0.79) return twice(held, place);
    if (drawn < 0.84) return reused(held, place);
    if (drawn < 0.97) return read(held);
    return peek(place);
  }

  return {
    name,
    slug,
    computer: person.computer,
    async play(): Promise<void> {
      const rounds = role === 'office' ? 16 : 10;
      for (let round = 1; round <= rounds; round++) {
        const place = `${name} ${round}`;
        await world.sleep(500 + chance.pauseMs(place, 40_000));
        const held = stage.platform.ordersOf(slug);
        const one = held[Math.floor(chance.part(`${place} which`) * held.length)];
        if (one) await act(one, place);
      }
    },
    /** Nothing fails any more: reads every order that the service lists, page by page. */
    async list(): Promise<readonly Order[]> {
      const orders: Order[] = [];
      let pageToken: string | undefined;
      do {
        const came = await person.persist(
          'lists',
          ({ client }) => client.orders({ pageSize: 2, ...(pageToken === undefined ? {} : { pageToken }) }),
          { tries: 30 },
        );
        if (came.kind !== 'ok') {
          world.violate('a partner has its list in the end', name);
          return orders;
        }
        orders.push(...came.value.orders);
        pageToken = came.value.nextPageToken;
        if (pageToken === undefined && came.value.totalCount !== orders.length)
          world.violate('a list is whole', `${name}: ${orders.length} of ${came.value.totalCount}`);
      } while (pageToken !== undefined);
      return orders;
    },
  };
}
