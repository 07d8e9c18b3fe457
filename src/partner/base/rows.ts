import type { Selectable } from 'kysely';
import { problem } from '../../kernel/problems.ts';
import { loadOutbox, type PageMessage } from '../../notify/index.ts';
import type { PartnerPorts } from './ports.ts';
import type { CustomerTable, PartnerDatabase, PartnerTable, Store, Tx } from './tables.ts';

export const findRow = <T extends keyof PartnerDatabase & string>(
  at: Store | Tx,
  table: T,
  match: Partial<Selectable<PartnerDatabase[T]>>,
): Promise<Selectable<PartnerDatabase[T]> | undefined> =>
  at
    // Kysely has no types for a table given as a parameter, so one table's types stand in for all.
    .selectFrom(table as 'partners')
    .selectAll()
    .where((is) => is.and(match as Partial<Selectable<PartnerTable>>))
    .executeTakeFirst() as Promise<Selectable<PartnerDatabase[T]> | undefined>;

/** The turn of work that reads a customer's data, requirements or recent orders before it writes. */
export const customerTurn = (customerId: string): string => `customers:${customerId}`;

/** Finds a partner of this environment. @throws Problem `partner_not_found` */
export async function requirePartner({ environment }: PartnerPorts, at: Store | Tx, partner_id: string) {
  const row = await findRow(at, 'partners', { partner_id, environment });
  if (!row) throw problem('partner_not_found');
  return row;
}

/** Finds a customer of this environment. @throws Problem `customer_not_found` */
export async function requireCustomer(
  { environment }: Pick<PartnerPorts, 'environment'>,
  at: Store | Tx,
  customer_id: string,
): Promise<Selectable<CustomerTable>> {
  const row = await findRow(at, 'customers', { customer_id, environment });
  if (!row) throw problem('customer_not_found');
  return row;
}

/** Finds the highest rank of a customer's data or attestations; 0 if there are none. */
export async function highestRank(tx: Tx, table: 'customer_data' | 'attestation_runs', customerId: string) {
  const row = await tx
    .selectFrom(table)
    .select((column) => column.fn.max<number | null>('rank').as('rank'))
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  return Number(row?.rank ?? 0);
}

/** Lets a partner see a customer. Idempotent. */
export async function linkCustomer(tx: Tx, customerId: string, partnerId: string, nowMs: number): Promise<void> {
  await tx
    .insertInto('customer_partners')
    .values({ customer_id: customerId, partner_id: partnerId, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.columns(['customer_id', 'partner_id']).doNothing())
    .execute();
}

/**
 * Queues a page to the operator in the event's own transaction, once per event and subject; the service's worker sends
 * it. A page leaves our systems, so it holds only ids and our own words.
 */
export async function pageOperator(
  { store, clock, ids, log, secrets }: PartnerPorts,
  tx: Tx,
  { event, subject, ...page }: Pick<PageMessage, 'event' | 'text' | 'fields'> & { readonly subject: string },
): Promise<void> {
  const { createOutbox } = await loadOutbox();
  const outbox = createOutbox({ store, clock, ids, log, secrets, transports: null });
  await outbox.enqueue(tx, { kind: 'page', dedupKey: `page:${event}:${subject}`, intentId: null, event, ...page });
}
