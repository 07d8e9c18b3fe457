import { join } from 'node:path';
import { readRows } from '../store/read-only.ts';

/** A glance at the services' own database of a home, for shell completion: nothing is opened for writing or begun. */

/** An id, and what it is about in a few words without anything personal. */
export interface Glanced {
  readonly id: string;
  readonly words: string;
}

const MOST = 50;

const inServices = (home: string, sql: string): Glanced[] =>
  readRows(join(home, 'service.db'), `${sql} limit ${MOST}`).map((row) => ({
    id: String(row.id),
    words: [row.a, row.b]
      .filter((one) => one !== null && one !== undefined && one !== '')
      .map(String)
      .join(', '),
  }));

/** The newest ramp orders that a partner can see; of all partners where `partnerId` is null. */
export function glanceAtOrders(home: string, partnerId: string | null): Glanced[] {
  const all = inServices(
    home,
    `select order_id as id, partner_id as a, status as b from partner_orders
      where creation = 'created' order by created_at_ms desc, order_id`,
  );
  return partnerId === null ? all : all.filter(({ words }) => words.split(', ')[0] === partnerId);
}

/** Partners that are there: `par_sandbox_bank`. */
export const glanceAtPartners = (home: string): Glanced[] =>
  inServices(home, 'select partner_id as id, name as a, type as b from partners order by partner_id');

export const glanceAtCustomers = (home: string): Glanced[] =>
  inServices(home, 'select customer_id as id, country as a from customers order by customer_id');

/** Refund requests, those that wait for an operator first. */
export const glanceAtRefundRequests = (home: string): Glanced[] =>
  inServices(
    home,
    `select request_id as id, intent_id as a, state as b from refund_requests where state <> 'settling'
      order by case when state = 'received' then 0 else 1 end, requested_at_ms desc`,
  );

/** What waits for a person. */
export const glanceAtStuck = (home: string): Glanced[] =>
  inServices(
    home,
    `select id, a, b from (
       select intent_id as id, 'booking' as a, last_error as b from bookings where state = 'stuck'
       union all
       select request_id, 'refund request', last_error from refund_requests where state = 'stuck'
     ) as waiting order by id`,
  );

export const glanceAtAttestations = (home: string): Glanced[] =>
  inServices(
    home,
    'select attestation_id as id, type as a, state as b from attestation_runs order by started_at_ms desc',
  );

/** Keys that still work: of operators, or of partners. */
export const glanceAtKeys = (home: string, of: 'operators' | 'partners'): Glanced[] =>
  inServices(
    home,
    of === 'operators'
      ? 'select key_id as id, name as a from api_keys where revoked_at_ms is null order by created_at_ms desc'
      : `select key_id as id, partner_id as a, name as b from partner_keys where revoked_at_ms is null
          order by created_at_ms desc`,
  );

export const glanceAtAffiliates = (home: string): Glanced[] =>
  inServices(home, 'select code as id, wallet as a from affiliates order by created_at_ms desc');

/** What partners sell, as the codes that an order names. */
export interface GlancedRails {
  readonly countries: readonly string[];
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly methods: readonly string[];
}

export function glanceAtRails(home: string): GlancedRails {
  const rows = readRows(join(home, 'service.db'), `select offering from partners limit ${MOST}`);
  const rails = rows.flatMap(({ offering }) => {
    const { rails } = JSON.parse(String(offering)) as { rails?: readonly Record<string, unknown>[] };
    return rails ?? [];
  });
  const codes = (name: string) =>
    [...new Set(rails.flatMap((rail) => rail[name] ?? []))].filter((one) => typeof one === 'string').sort();
  return {
    countries: codes('countries'),
    from: codes('fromCurrency'),
    to: codes('toCurrency'),
    methods: codes('paymentMethods'),
  };
}
