import type { Insertable, Updateable } from 'kysely';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { openQueue } from '../../store/index.ts';
import { type Call, findRow, type PartnerOrderTable, type PartnerPorts, type Tx } from '../base/index.ts';
import { CREATIONS, creationsIn, LEASE_MS } from './creation-due.ts';
import { type OrderRow, openColumn, sealColumn } from './order-record.ts';
import type { OrderRequest } from './order-request.ts';

/** Sealed with the row: what the outbound request needs, and how a creation ended that made no order. */
interface CreationNote {
  readonly walletAddress: string | null;
  /** The end user's address, for a redirect partner. */
  readonly forwardedFor: string | null;
  readonly ended?: CreationEnd | undefined;
}

/** The answer to the caller of a creation that failed. `again`: the same key asks the platform again. */
export type CreationEnd =
  | { readonly kind: 'refused'; readonly reason: string | null; readonly customerFacingReason: string | null }
  | { readonly kind: 'faulty' }
  /** `retryAtMs`: when the platform said that it can be asked again. */
  | { readonly kind: 'again'; readonly retryAtMs?: number };

/** Stands for a note that is gone: the order exists, or the retention has removed it. */
const NO_NOTE: CreationNote = { walletAddress: null, forwardedFor: null };

export const noteOf = (secrets: Secrets, row: OrderRow): CreationNote =>
  (openColumn(secrets, 'creation_sealed', row) as CreationNote | undefined) ?? NO_NOTE;

export const sealNote = (secrets: Secrets, orderId: string, note: CreationNote): string =>
  sealColumn(secrets, 'creation_sealed', orderId, note);

/** The rows behind CreateOrder: an order's row is written before its platform hears of it (CONTRACT, section 12). */
export function createCreations(ports: PartnerPorts) {
  const { store, ids, clock, environment, options } = ports;
  const queue = openQueue(ports, CREATIONS);

  const read = (orderId: string): Promise<OrderRow | undefined> =>
    findRow(store, 'partner_orders', { order_id: orderId });

  /** An unforeseen error of one order must not hold up the others. */
  const failed = (row: OrderRow, error: unknown): Promise<void> =>
    queue.postpone(row, error, ({ code }) => ({
      change: { last_error: code },
      log: () => ports.log('error', 'order_creation_failed', { order_id: row.order_id, error_name: code }),
    }));

  return {
    queue,
    read,

    /**
     * The row of this Idempotency-Key, if it was made within the key's time.
     * @throws Problem `idempotency_key_reused`
     */
    async known(key: Call['idempotency']): Promise<OrderRow | null> {
      if (key === null) return null;
      const row = await findRow(store, 'partner_orders', { creation_key: key.handle });
      if (!row || clock.now() - row.created_at_ms > options.answersKeptMs) return null;
      if (row.request_digest !== key.requestDigest) throw problem('idempotency_key_reused');
      return row;
    },

    /**
     * Writes the row, where `allowed` lets it; of two calls with one key, both get the first one's.
     * @throws what `allowed` throws, and then nothing is written
     */
    async begin(key: Call['idempotency'], wanted: OrderRequest, allowed: (tx: Tx) => Promise<void>): Promise<OrderRow> {
      const orderId = ids.next('rmp');
      await store.transaction().execute(async (tx) => {
        await allowed(tx);
        if (key !== null) await freeOldKey(tx, ports, key);
        await tx
          .insertInto('partner_orders')
          .values(newRow(ports, orderId, key, wanted))
          .onConflict((conflict) => conflict.column('creation_key').doNothing())
          .execute();
      });
      const row = (await read(orderId)) ?? (await this.known(key));
      if (!row) throw new Error('a creation was written and is not there');
      return row;
    },

    /** Takes the row for one drive, due or not; null when another drive has it, or it has ended. */
    claim: (orderId: string): Promise<OrderRow | null> => queue.claimRow(orderId),

    /**
     * A redirection, or an order that its platform never had, begins again where the platform is now, if `allowed`
     * still lets it.
     * @throws what `allowed` throws, and then nothing is written
     */
    reopen: (row: OrderRow, platformUrl: string | null, allowed: (tx: Tx) => Promise<void>): Promise<void> =>
      store.transaction().execute(async (tx) => {
        await allowed(tx);
        await tx
          .updateTable('partner_orders')
          .set({ ...anew(ports, row), platform_url: platformUrl })
          .where('order_id', '=', row.order_id)
          .where('creation', '=', 'failed')
          .where('fence', '=', row.fence)
          .execute();
      }),

    /** Lets the worker ask again with the same id, no sooner than the platform said: it may have the order. */
    postpone: (row: OrderRow, fault: string, retryAfterMs: number | null = null): Promise<void> =>
      queue.postpone(row, null, () => ({
        change: { last_error: fault },
        atLeastMs: retryAfterMs,
        log: () => undefined,
      })),

    async runDue(drive: (row: OrderRow) => Promise<void>, most: number): Promise<number> {
      const run = await queue.runDue({ perform: drive, failed }, most, [creationsIn(environment)]);
      return run.worked;
    },
  };
}

export type Creations = ReturnType<typeof createCreations>;

const anew = ({ secrets, clock }: PartnerPorts, row: OrderRow): Updateable<PartnerOrderTable> => ({
  creation: 'creating',
  attempts: 0,
  lease_until_ms: 0,
  due_at_ms: clock.now() + LEASE_MS,
  creation_sealed: sealNote(secrets, row.order_id, { ...noteOf(secrets, row), ended: undefined }),
});

/** Frees a key whose time is over. */
const freeOldKey = (tx: Tx, { clock, options }: PartnerPorts, key: NonNullable<Call['idempotency']>) =>
  tx
    .updateTable('partner_orders')
    .set({ creation_key: null })
    .where('creation_key', '=', key.handle)
    .where('created_at_ms', '<', clock.now() - options.answersKeptMs)
    .execute();

const newRow = (
  { secrets, environment, clock }: PartnerPorts,
  orderId: string,
  key: Call['idempotency'],
  wanted: OrderRequest,
): Insertable<PartnerOrderTable> => {
  const nowMs = clock.now();
  return {
    order_id: orderId,
    environment,
    partner_id: wanted.partnerId,
    customer_id: wanted.customerId,
    begun_as: wanted.partnerType,
    platform_url: wanted.platformUrl,
    creation: 'creating',
    status: null,
    transaction_type: wanted.rampType,
    country_code: wanted.countryCode,
    source_currency: wanted.fromCurrency,
    source_amount: wanted.fromAmount,
    destination_currency: wanted.toCurrency,
    network: wanted.network,
    payment_method: wanted.paymentMethod,
    customer_payment_details_data_id: wanted.paymentDetailsDataId,
    customer_wallet_data_id: wanted.walletDataId,
    creation_key: key?.handle ?? null,
    request_digest: key?.requestDigest ?? null,
    creation_sealed: sealNote(secrets, orderId, {
      walletAddress: wanted.walletAddress,
      forwardedFor: wanted.customerIp,
    }),
    due_at_ms: nowMs + LEASE_MS,
    created_at_ms: nowMs,
    updated_at_ms: nowMs,
  };
};
