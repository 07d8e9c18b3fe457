import { DAY_MS } from '../../kernel/clock.ts';
import { networkNamed } from '../../kernel/domain/exchange-codes.ts';
import type { PartnerPorts, Store, Tx } from '../base/index.ts';
import type { WalletNetwork } from './compliance.ts';
import { type Policy, type PolicyOrder, sum, usdOf } from './policy.ts';

/** How long a refused order is remembered: its customer is told what it would have taken. */
const REMEMBERED_MS = 30 * DAY_MS;

/** An order that somebody wants to make. */
export interface WantedOrder {
  readonly partnerId: string;
  /** ISO 3166-1 alpha-3. */
  readonly country: string;
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  /** What the customer gives: a decimal string, and its currency. */
  readonly amount: string;
  readonly currency: string;
  readonly network: WalletNetwork | null;
  /** The wallet that the order names: attestations of wallets are about this one. */
  readonly walletDataId?: string | null | undefined;
  /** The order's own id, where its row is written already: it does not count against itself. */
  readonly orderId?: string | undefined;
}

/** Orders as the policy sees them: those that are wanted, and those that count together with them. */
export function createWantedOrders({ clock }: Pick<PartnerPorts, 'clock'>, policy: Policy) {
  return {
    /** What the policy makes of an order, with what the customer ordered within its window. */
    async weigh(store: Store | Tx, customerId: string, wanted: WantedOrder): Promise<PolicyOrder> {
      const earlier = policy.amountWindowDays === 0 ? [] : await ordered(store, customerId, wanted.orderId);
      const worth = [{ amount: wanted.amount, currency: wanted.currency }, ...earlier].map((one) =>
        usdOf(policy, one.amount, one.currency),
      );
      const known = worth.filter((usd) => usd !== null);
      return {
        rampType: wanted.rampType,
        country: wanted.country,
        usd: known.length === worth.length ? sum(known) : null,
        network: wanted.network,
      };
    },

    /** Remembers a refused order, in place of the one before in its direction. */
    async remember(tx: Tx, customerId: string, wanted: WantedOrder, order: PolicyOrder): Promise<void> {
      const row = {
        partner_id: wanted.partnerId,
        country: order.country,
        usd: order.usd,
        network: order.network,
        wanted_at_ms: clock.now(),
      };
      await tx
        .insertInto('wanted_orders')
        .values({ customer_id: customerId, ramp_type: order.rampType, ...row })
        .onConflict((conflict) => conflict.columns(['customer_id', 'ramp_type']).doUpdateSet(row))
        .execute();
    },

    async forget(tx: Tx, customerId: string, rampType: WantedOrder['rampType']): Promise<void> {
      await tx
        .deleteFrom('wanted_orders')
        .where('customer_id', '=', customerId)
        .where('ramp_type', '=', rampType)
        .execute();
    },

    async of(store: Store | Tx, customerId: string): Promise<PolicyOrder[]> {
      const rows = await store
        .selectFrom('wanted_orders')
        .selectAll()
        .where('customer_id', '=', customerId)
        .where('wanted_at_ms', '>', clock.now() - REMEMBERED_MS)
        .orderBy('ramp_type')
        .execute();
      return rows.map((row) => ({
        rampType: row.ramp_type === 'ONRAMP' ? 'ONRAMP' : 'OFFRAMP',
        country: row.country,
        usd: row.usd,
        network: row.network === null ? null : networkNamed(row.network),
      }));
    },
  };

  /** What the customer ordered within the window. What was canceled, paid back, or only pointed to does not count. */
  async function ordered(store: Store | Tx, customerId: string, except: string | undefined) {
    const rows = await store
      .selectFrom('partner_orders')
      .select(['order_id', 'source_amount as amount', 'source_currency as currency', 'status'])
      .where('customer_id', '=', customerId)
      .where('creation', 'in', ['creating', 'created'])
      .where('created_at_ms', '>', clock.now() - policy.amountWindowDays * DAY_MS)
      .execute();
    return rows.filter(({ order_id, status }) => order_id !== except && status !== 'CANCELED' && status !== 'REFUNDED');
  }
}
