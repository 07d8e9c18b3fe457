import type { OrderStatus } from '../../../src/kernel/domain/order-moves.ts';
import { type OrderStanding, refusalOf } from '../../../src/kernel/domain/order-moves.ts';
import type { World } from '../world/world.ts';
import { isLegal } from './moves.ts';
import { customerIdOf, type Stage } from './stage.ts';

/** An order's row as the database wrote it down. */
export interface Picture {
  readonly order_id: string;
  readonly partner_id: string;
  readonly customer_id: string;
  readonly source_amount: string;
  readonly creation: 'creating' | 'created' | 'redirected' | 'failed';
  readonly status: OrderStatus | null;
  readonly version: number;
  readonly external_id: string | null;
  readonly source_transaction_id: string | null;
  readonly destination_transaction_id: string | null;
  readonly destination_amount: string | null;
  readonly funds_seen: number;
  readonly payment_processed: number;
  readonly return_details_sealed: string | null;
}

/** A version of an order, and from when to when it was the last one. */
export interface Version {
  readonly picture: Picture;
  readonly fromMs: number;
  untilMs: number;
}

const CREATIONS: Readonly<Record<Picture['creation'], readonly Picture['creation'][]>> = {
  creating: ['creating', 'created', 'redirected', 'failed'],
  failed: ['failed', 'creating'],
  created: ['created'],
  redirected: ['redirected'],
};

const SEEN = [
  'status',
  'external_id',
  'source_transaction_id',
  'destination_transaction_id',
  'destination_amount',
  'return_details_sealed',
] as const;

/** Eva gave no proof of identity: below this much in a month she needs none. */
const UNPROVEN_USD = 1_000;
const USD_PER_MXN = 0.06;

/** An order as the rules of UpdateOrder see it. */
export const standingOf = (row: Picture): OrderStanding => ({
  status: row.status as OrderStatus,
  funds: row.funds_seen === 1,
  paymentProcessed: row.payment_processed === 1,
  sourceTransactionId: row.source_transaction_id,
  destinationTransactionId: row.destination_transaction_id,
  returned: row.return_details_sealed !== null,
});

/** It adds to what its customer orders in a month. */
const counts = ({ creation, status }: Picture): boolean =>
  (creation === 'creating' || creation === 'created') && status !== 'CANCELED' && status !== 'REFUNDED';

export type Truth = ReturnType<typeof createTruth>;

/** Every change of every order, as it was committed, and when; each is held to the rules as it comes. */
export function createTruth(world: World, stage: Stage) {
  const rows = new Map<string, Picture>();
  const versions = new Map<string, Version[]>();
  const groups = new Map<string, string>();
  const orderOfGroup = new Map<string, string>();
  const once = new Map<string, boolean>();
  /** When one of her orders, which had counted against the next, counted no longer. */
  const freedMs: number[] = [];
  let lastId = 0;

  const begins = (after: Picture): void => {
    const group = groups.get(after.source_amount);
    const other = group === undefined ? undefined : orderOfGroup.get(group);
    if (group !== undefined) orderOfGroup.set(group, after.order_id);
    if (other !== undefined && other !== after.order_id)
      world.violate('one idempotency key, one order', `${other} and ${after.order_id} are for ${group}`);
    if (after.customer_id === customerIdOf('eva')) checkCleared(world, stage, rows);
  };

  const apply = (before: Picture | null, after: Picture): void => {
    const id = after.order_id;
    const known = rows.get(id) ?? null;
    if (JSON.stringify(known) !== JSON.stringify(before))
      world.violate('every change follows the one before', `${id}: ${JSON.stringify({ known, before })}`);
    rows.set(id, after);
    if (before && counts(before) && !counts(after) && after.customer_id === customerIdOf('eva'))
      freedMs.push(world.now());
    if (before === null) {
      if (after.creation !== 'creating') world.violate('an order begins by being created', id);
      begins(after);
      return;
    }
    if (!CREATIONS[before.creation].includes(after.creation))
      world.violate('a creation that ended stays so', `${id}: ${before.creation} to ${after.creation}`);
    if (before.creation !== after.creation) world.saw(`creation: ${before.creation} to ${after.creation}`);
    if (before.creation === 'failed' && after.creation === 'creating') begins(after);
    if (after.creation !== 'created') return;
    if (before.creation === 'created') checkChange(world, before, after);
    checkMarker(before, after);
    const own = versions.get(id) ?? [];
    const last = own.at(-1);
    if (last?.picture.version === after.version) return;
    if (last) last.untilMs = world.now();
    own.push({ picture: after, fromMs: world.now(), untilMs: Number.POSITIVE_INFINITY });
    versions.set(id, own);
    world.saw(`status: ${after.status}`);
  };

  const checkMarker = (before: Picture, after: Picture): void => {
    const marker = after.destination_transaction_id;
    if (marker === null || marker === before.destination_transaction_id) return;
    if (once.get(marker) === true)
      world.violate('one idempotency key, one change', `${after.order_id} was set to ${marker} twice`);
    if (once.has(marker)) once.set(marker, true);
  };

  const look = (): void => {
    const moves = stage.rows<{ id: number; before: string | null; after: string }>(
      'select id, before, after from sim_moves where id > ? order by id',
      lastId,
    );
    for (const { id, before, after } of moves) {
      lastId = Number(id);
      apply(before === null ? null : (JSON.parse(before) as Picture), JSON.parse(after) as Picture);
    }
  };
  // Every way in which a row of an order is committed.
  for (const about of ['db commit', 'db update partner_orders', 'db insert partner_orders'])
    world.always('orders move as they may', about, look);

  return {
    look,
    rows: rows as ReadonlyMap<string, Picture>,
    versions: (orderId: string): readonly Version[] => versions.get(orderId) ?? [],
    alive: (orderId: string, fromMs: number, toMs: number): readonly Version[] =>
      (versions.get(orderId) ?? []).filter((one) => one.fromMs <= toMs && one.untilMs >= fromMs),
    /** Amounts that are asked for under one key: they make one order at most. */
    oneOrderFor(group: string, amounts: readonly string[]): void {
      for (const amount of amounts) groups.set(amount, group);
    },
    /** True when something of Eva's counted no longer from then on, which left room for another order. */
    hasFreed: (fromMs: number, toMs: number): boolean => freedMs.some((at) => at >= fromMs && at <= toMs),
    /** A destination transaction that one update brings, which may be applied once. */
    onlyOnce: (marker: string): void => void once.set(marker, false),
  };
}

/** A change of an order that exists: a version higher by one, and a move that the table has. */
function checkChange(world: World, before: Picture, after: Picture): void {
  const id = after.order_id;
  const isChanged = SEEN.some((field) => before[field] !== after[field]);
  const grew = after.version - before.version;
  if (isChanged ? grew !== 1 : grew !== 0 && grew !== 1)
    world.violate('the version grows by one with each change', `${id}: ${before.version} to ${after.version}`);
  if (after.funds_seen < before.funds_seen || after.payment_processed < before.payment_processed)
    world.violate('what was seen once was seen', id);
  const moved = {
    from: before.status,
    to: after.status,
    wasFunded: before.funds_seen === 1 || before.source_transaction_id !== null,
    hasSource: after.source_transaction_id !== null,
    isReturned: after.return_details_sealed !== null,
  };
  const { from, to } = moved;
  if (from !== null && to !== null && !isLegal({ ...moved, from, to }))
    world.violate("an order moves as the contract's table allows", `${id}: ${from} to ${to}`);
  const refusal = refusalOf(standingOf(before), {
    status: after.status ?? undefined,
    sourceTransactionId:
      after.source_transaction_id === before.source_transaction_id
        ? undefined
        : (after.source_transaction_id ?? undefined),
    destinationTransactionId: after.destination_transaction_id ?? undefined,
    reason: 'any',
    returnDetails: after.return_details_sealed === null ? undefined : { reason: 'any' },
  });
  if (refusal)
    world.violate('an order moves as the table allows', `${id}: ${before.status} to ${after.status}, ${refusal.kind}`);
  if (before.status !== after.status) world.saw(`move: ${before.status} to ${after.status}`);
}

/** When an order of Eva's begins, or begins anew, she is cleared for all that she orders in a month. */
function checkCleared(world: World, stage: Stage, rows: ReadonlyMap<string, Picture>): void {
  const rule = 'nobody orders more than compliance allows';
  const eva = customerIdOf('eva');
  const [aml] = stage.rows<{ state: string }>(
    `select state from attestation_runs where customer_id = ? and type = 'AML_CHECK' order by "rank" desc limit 1`,
    eva,
  );
  if (aml?.state !== 'passed') world.violate(rule, `an order begins while her check is ${aml?.state}`);
  const counting = [...rows.values()].filter((picture) => picture.customer_id === eva && counts(picture));
  const usd = counting.reduce((sum, { source_amount }) => sum + Number(source_amount) * USD_PER_MXN, 0);
  if (usd >= UNPROVEN_USD) world.violate(rule, `${counting.length} orders of ${usd.toFixed(2)} USD together`);
}
