import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { inTurn } from '../../store/base/index.ts';
import { openQueue } from '../../store/index.ts';
import { type Call, customerTurn, findRow, type PartnerPorts, type Tx } from '../base/index.ts';
import { openOutbound } from '../platforms/index.ts';
import { CREATIONS, LEASE_MS } from './creation-due.ts';
import { type OrderRow, openColumn, sealColumn } from './order-record.ts';
import type { OrderRequest } from './order-request.ts';

/** Opens the queue of creations. An order's row is written before its platform is called (CONTRACT, section 12). */
export const openCreations = (ports: PartnerPorts) => ({
  ...ports,
  queue: openQueue(ports, CREATIONS),
  platforms: openOutbound(ports),
});

export type Creations = ReturnType<typeof openCreations>;

/** Sealed in the row: fields of the outbound request, and how a creation ended that made no order. */
export interface CreationNote {
  readonly walletAddress: string | null;
  /** The end user's address, for a redirect partner. */
  readonly forwardedFor: string | null;
  readonly ended?: CreationEnd | undefined;
}

/** How a creation failed. After `again`, a call with the same key asks the platform again. */
export type CreationEnd =
  | { readonly kind: 'refused'; readonly reason: string | null; readonly customerFacingReason: string | null }
  | { readonly kind: 'faulty' }
  /** `retryAtMs`: when the platform may be asked again, if it said so. */
  | { readonly kind: 'again'; readonly retryAtMs?: number };

/** Opens the note of a row; empty once the order exists or the retention has removed it. */
export const noteOf = (secrets: Secrets, row: OrderRow): CreationNote =>
  (openColumn(secrets, 'creation_sealed', row) as CreationNote | undefined) ?? {
    walletAddress: null,
    forwardedFor: null,
  };

export const sealNote = (secrets: Secrets, orderId: string, note: CreationNote): string =>
  sealColumn(secrets, 'creation_sealed', orderId, note);

/** Finds the row of an Idempotency-Key that has not expired. @throws Problem `idempotency_key_reused` */
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

/** Writes a row, or finds that of an earlier call with the key. @throws the errors of `allowed`, and writes nothing */
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
    // Frees an expired key.
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

/** Begins a failed creation again, at `platform_url`. @throws the errors of `allowed` */
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
