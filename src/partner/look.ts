import { join } from 'node:path';
import { type Glanced, glance, MOST_GLANCED } from '../store/glance.ts';
import { readRows } from '../store/libsql/index.ts';

/** Read-only queries for shell completion, which do not open the service. */

/** Lists the newest ramp orders of a partner, or of all partners if `partnerId` is null. */
export function glanceAtOrders(home: string, partnerId: string | null): Glanced[] {
  const partners = readRows(join(home, 'service.db'), 'select partner_id, environment from partners').filter(
    ({ partner_id }) => partnerId === null || partner_id === partnerId,
  );
  if (partners.length === 0) return [];
  // The newest of each partner by the index, then the newest of them all.
  const newest = partners.map(
    ({ partner_id, environment }, place) =>
      `select * from (select order_id as id, partner_id as a, status as b, created_at_ms as at_ms from partner_orders
        where partner_id = ${literal(partner_id)} and environment = ${literal(environment)} and creation = 'created'
        order by created_at_ms desc, order_id desc limit ${MOST_GLANCED}) as newest_${place}`,
  );
  return glance(home, `select id, a, b from (${newest.join(' union all ')}) as newest order by at_ms desc, id desc`);
}

const literal = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;

export const glanceAtPartners = (home: string): Glanced[] =>
  glance(home, 'select partner_id as id, name as a, type as b from partners order by partner_id');

export const glanceAtCustomers = (home: string): Glanced[] =>
  glance(home, "select customer_id as id, country as a from customers where customer_id > '' order by customer_id");

export const glanceAtAttestations = (home: string): Glanced[] =>
  glance(
    home,
    `select attestation_id as id, type as a, state as b from attestation_runs
      where started_at_ms > 0 order by started_at_ms desc`,
  );

export const glanceAtPartnerKeys = (home: string): Glanced[] =>
  glance(
    home,
    `select key_id as id, partner_id as a, name as b from partner_keys where revoked_at_ms is null
      order by created_at_ms desc`,
  );

/** The codes in partners' offerings that an order can name. */
export type GlancedRails = ReturnType<typeof glanceAtRails>;

export function glanceAtRails(home: string) {
  const rows = readRows(join(home, 'service.db'), `select offering from partners limit ${MOST_GLANCED}`);
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
