import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { inTurn } from '../../store/base/index.ts';
import { openQueue } from '../../store/index.ts';
import { type Call, customerTurn, findRow, type PartnerPorts, type Tx } from '../base/index.ts';
import { openOutbound } from '../platforms/index.ts';
import { CREATIONS, LEASE_MS } from './creation-due.ts';
import { type OrderRow, openColumn, sealColumn } from './order-record.ts';
import type { OrderRequest } from './order-request.ts';

/** The rows behind CreateOrder: an order's row is written before its platform hears of it (CONTRACT, section 12). */
export const openCreations = (ports: PartnerPorts) => ({
  ...ports,
  queue: openQueue(ports, CREATIONS),
  platforms: openOutbound(ports),
});

export type Creations = ReturnType<typeof openCreations>;

/** Sealed with the row: fields of the outbound request, and the end of a creation that made no order. */
export interface CreationNote {
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

/** The note of a row; empty once the order exists, or the retention has removed it. */
export const noteOf = (secrets: Secrets, row: OrderRow): CreationNote =>
  (openColumn(secrets, 'creation_sealed', row) as CreationNote | undefined) ?? {
    walletAddress: null,
    forwardedFor: null,
  };

export const sealNote = (secrets: Secrets, orderId: string, note: CreationNote): string =>
  sealColumn(secrets, 'creation_sealed', orderId, note);

/** The row of this Idempotency-Key, within the key's time. @throws Problem `idempotency_key_reused` */
export async function knownCreation(
  { store, clock, options }: PartnerPorts,
  key: Call['idempotency'],
): Promise<OrderRow | null> {
  if (key === null) return null;
  const row = await findRow(store, 'partner_orders', { creation_key: key.handle });
  if (!row || clock.now() - row.created_at_ms > options.answersKeptMs) return null;
  if (row.request_digest !== key.requestDigest) throw problem('idempotency_key_reused');
  return row;
}

/** Writes the row; two calls with one key get the first one's. @throws the errors of `allowed`, with nothing written */
export async function beginCreation(
  ports: PartnerPorts,
  key: Call['idempotency'],
  { columns, note }: OrderRequest,
  allowed: (tx: Tx) => Promise<void>,
): Promise<OrderRow> {
  const { store, secrets, environment, clock, options } = ports;
  const order_id = ports.ids.next('rmp');
  await inTurn(store, [customerTurn(columns.customer_id)], async (tx) => {
    await allowed(tx);
    const nowMs = clock.now();
    // Frees a key whose time is over.
    if (key !== null)
      await tx
        .updateTable('partner_orders')
        .set({ creation_key: null })
        .where('creation_key', '=', key.handle)
        .where('created_at_ms', '<', nowMs - options.answersKeptMs)
        .execute();
    await tx
      .insertInto('partner_orders')
      .values({
        ...columns,
        order_id,
        environment,
        creation: 'creating',
        creation_key: key?.handle ?? null,
        request_digest: key?.requestDigest ?? null,
        creation_sealed: sealNote(secrets, order_id, note),
        due_at_ms: nowMs + LEASE_MS,
        created_at_ms: nowMs,
        updated_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.column('creation_key').doNothing())
      .execute();
  });
  const row = (await findRow(store, 'partner_orders', { order_id })) ?? (await knownCreation(ports, key));
  if (!row) throw new Error('a creation was written and is not there');
  return row;
}

/** Begins a redirection or an untaken order again at the platform's present address. @throws the errors of `allowed` */
export const reopenCreation = (
  { store, secrets, clock }: PartnerPorts,
  row: OrderRow,
  platform_url: string | null,
  allowed: (tx: Tx) => Promise<void>,
): Promise<void> =>
  inTurn(store, [customerTurn(row.customer_id)], async (tx) => {
    await allowed(tx);
    await tx
      .updateTable('partner_orders')
      .set({
        creation: 'creating',
        attempts: 0,
        lease_until_ms: 0,
        due_at_ms: clock.now() + LEASE_MS,
        creation_sealed: sealNote(secrets, row.order_id, { ...noteOf(secrets, row), ended: undefined }),
        platform_url,
      })
      .where('order_id', '=', row.order_id)
      .where('creation', '=', 'failed')
      .where('fence', '=', row.fence)
      .execute();
  });
