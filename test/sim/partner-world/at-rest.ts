import type { World } from '../world/world.ts';
import type { Wish } from './customers.ts';
import type { Staff } from './staff.ts';
import { partnerIdOf, type Stage } from './stage.ts';
import type { Picture, Truth } from './truth.ts';

/** The books, once nothing is under way any more: the platforms', ours, and what each was told are one story. */
export function checkAtRest(world: World, stage: Stage, truth: Truth, wishes: readonly Wish[]): void {
  truth.look();
  checkLeftovers(world, stage);
  for (const row of truth.rows.values()) checkOrder(world, stage, truth, row);
  for (const held of stage.platform.held.values()) {
    const row = truth.rows.get(held.orderId);
    if (row?.creation !== 'created')
      world.violate('what the platform holds is on record', `${held.orderId} is ${row?.creation}`);
  }
  for (const wish of wishes) checkWish(world, truth, wish);
  checkChanges(world, stage, truth);
}

/** Nothing waits for anything. */
function checkLeftovers(world: World, stage: Stage): void {
  const stuck = stage.rows<{ order_id: string; creation: string }>(
    `select order_id, creation from partner_orders where creation = 'creating' or due_at_ms is not null`,
  );
  for (const { order_id: id, creation } of stuck)
    world.violate('nothing stays stuck', `${id} is ${creation}, or still due`);
  const running = stage.rows<{ attestation_id: string }>(
    `select attestation_id from attestation_runs where state = 'running'`,
  );
  for (const { attestation_id: id } of running) world.violate('nothing stays stuck', `${id} runs`);
}

function checkOrder(world: World, stage: Stage, truth: Truth, row: Picture): void {
  const { order_id: id, creation } = row;
  const held = stage.platform.held.get(id);
  world.saw(`at rest: ${creation}${creation === 'created' && row.external_id === null ? ' without its platform' : ''}`);
  if (creation === 'failed' && held) world.violate('what the platform holds is on record', `${id} failed`);
  if (creation !== 'created') return;
  if (row.external_id === null) {
    checkFaulty(world, stage, truth, row);
    return;
  }
  if (!held) world.violate('what is on record is held by the platform', id);
  else if (held.externalOrderId !== row.external_id)
    world.violate('what is on record is held by the platform', `${id} as ${row.external_id}`);
  const twins = [...truth.rows.values()].filter(
    (one) => one.partner_id === row.partner_id && one.external_id === row.external_id,
  );
  if (twins.length > 1) world.violate('an order of the platform is one of ours', `${row.external_id} is two`);
}

/** An order that a person has to look at: it began in ERROR, and there is a reason. */
function checkFaulty(world: World, stage: Stage, truth: Truth, row: Picture): void {
  const first = truth.versions(row.order_id)[0]?.picture;
  const held = stage.platform.held.get(row.order_id);
  const isShared =
    held &&
    stage.platform.ordersOf(held.slug).some((one) => one !== held && one.externalOrderId === held.externalOrderId);
  const isLong = stage
    .rows<{ partner_id: string }>('select partner_id from partner_orders where order_id = ?', row.order_id)
    .some(({ partner_id }) =>
      (['bank', 'pix'] as const).some((slug) => partnerIdOf(slug) === partner_id && stage.platform.isLong(slug)),
    );
  if (first?.status !== 'ERROR')
    world.violate('what no platform has confirmed begins in ERROR', `${row.order_id} in ${first?.status}`);
  // A platform that refuses what it was perhaps sent before settles nothing.
  const isRefused = stage.platform.refused.has(row.order_id);
  if (!held?.isMisanswered && !isShared && !isLong && !isRefused)
    world.violate('a good answer makes an order', `${row.order_id} was answered well, and is in ERROR`);
}

/** What a customer was told for good. */
function checkWish(world: World, truth: Truth, wish: Wish): void {
  const { orderId, said, key } = wish;
  const own = [...truth.rows.values()].filter(({ source_amount: amount }) => amount === wish.body.fromAmount);
  if (orderId !== null) {
    const row = truth.rows.get(orderId);
    const is = said === 'redirect' ? 'redirected' : 'created';
    if (row?.creation !== is)
      world.violate('what was acknowledged is there', `${key}: ${orderId} is ${row?.creation}, not ${is}`);
  } else if (said === 'partner_refused' && key !== null) {
    if (own.some(({ creation }) => creation !== 'failed'))
      world.violate('what was said for good stays', `${key}: it was refused`);
  }
}

/** The history of each order has a line for each of its versions, and each follows the one before. */
function checkChanges(world: World, stage: Stage, truth: Truth): void {
  const changes = stage.rows<{ order_id: string; version: number; from_status: string | null; to_status: string }>(
    'select order_id, version, from_status, to_status from partner_order_changes order by order_id, version',
  );
  for (const row of truth.rows.values()) {
    const own = changes.filter(({ order_id: id }) => id === row.order_id);
    const versions = truth.versions(row.order_id);
    const isWhole =
      own.length === versions.length &&
      own.every(
        (one, n) =>
          Number(one.version) === n + 1 &&
          one.to_status === versions[n]?.picture.status &&
          one.from_status === (versions[n - 1]?.picture.status ?? null),
      );
    if (!isWhole) world.violate('every version has its line of history', `${row.order_id}: ${JSON.stringify(own)}`);
  }
}

/** Each partner's list has each of its orders, as it is. */
export async function checkLists(world: World, truth: Truth, staff: readonly Staff[]): Promise<void> {
  for (const one of staff) {
    const listed = await one.list();
    const own = [...truth.rows.values()].filter(
      ({ partner_id, creation }) => partner_id === partnerIdOf(one.slug) && creation === 'created',
    );
    const ids = new Set(listed.map(({ id }) => id));
    if (ids.size !== listed.length || ids.size !== own.length)
      world.violate('a list is whole', `${one.name}: ${ids.size} of ${own.length}`);
    for (const order of listed) {
      const row = truth.rows.get(order.id);
      if (row?.version !== order.version || row.status !== order.status)
        world.violate('no acknowledged write is lost', `${order.id} is listed as ${order.status}`);
    }
  }
}
