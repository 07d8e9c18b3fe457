import { join } from 'node:path';
import { countMove } from '../../src/partner/orders/order-record.ts';
import { openStore } from '../../src/service/home.ts';
import type { Runner } from './farelock.ts';

/** Orders of the sandbox bank that await their funds, laid in the database of a home: many, and at once. */
export async function layOrders(runner: Runner, count: number): Promise<string[]> {
  // The first command makes the demo's own orders, which the laid ones are like.
  await runner.run(['partner', 'orders', 'list', '--json']);
  const store = await openStore(join(runner.home, 'service.db'));
  try {
    const like = await store
      .selectFrom('partner_orders')
      .selectAll()
      .where('order_id', '=', 'rmp_demo_waiting')
      .executeTakeFirstOrThrow();
    const ids = Array.from({ length: count }, (_, index) => `rmp_laid_${String(index + 1).padStart(5, '0')}`);
    await store.transaction().execute(async (tx) => {
      for (const order_id of ids) {
        await tx
          .insertInto('partner_orders')
          .values({ ...like, order_id, external_id: null, deposit_instructions_sealed: null, version: 1 })
          .execute();
        await countMove(tx, {
          partnerId: like.partner_id,
          environment: like.environment,
          from: null,
          to: like.status as 'AWAITING_FUNDS',
        });
      }
    });
    return ids;
  } finally {
    await store.destroy();
  }
}

/** How often each order was changed, by its record of changes. */
export async function changesOf(runner: Runner): Promise<Map<string, number>> {
  const store = await openStore(join(runner.home, 'service.db'));
  try {
    const rows = await store
      .selectFrom('partner_order_changes')
      .select(['order_id', store.fn.countAll<number>().as('changes')])
      .groupBy('order_id')
      .execute();
    return new Map(rows.map(({ order_id, changes }) => [order_id, Number(changes)]));
  } finally {
    await store.destroy();
  }
}
