import { join } from 'node:path';
import { type Glanced, glance, MOST_GLANCED } from '../store/glance.ts';
import { readRows } from '../store/libsql/read-only.ts';

/** The door for looks that change nothing, for completion: asked without opening the service. */

/** The newest ramp orders that a partner can see; of all partners where `partnerId` is null. */
export function glanceAtOrders(home: string, partnerId: string | null): Glanced[] {
  const all = glance(
    home,
    `select order_id as id, partner_id as a, status as b from partner_orders
      where creation = 'created' order by created_at_ms desc, order_id`,
  );
  return partnerId === null ? all : all.filter(({ words }) => words.split(', ')[0] === partnerId);
}

/** Partners that are there: `par_sandbox_bank`. */
export const glanceAtPartners = (home: string): Glanced[] =>
  glance(home, 'select partner_id as id, name as a, type as b from partners order by partner_id');

export const glanceAtCustomers = (home: string): Glanced[] =>
  glance(home, 'select customer_id as id, country as a from customers order by customer_id');

export const glanceAtAttestations = (home: string): Glanced[] =>
  glance(
    home,
    'select attestation_id as id, type as a, state as b from attestation_runs order by started_at_ms desc',
  );

/** Partners' keys that still work. */
export const glanceAtPartnerKeys = (home: string): Glanced[] =>
  glance(
    home,
    `select key_id as id, partner_id as a, name as b from partner_keys where revoked_at_ms is null
      order by created_at_ms desc`,
  );

/** What partners sell, as the codes that an order names. */
export interface GlancedRails {
  readonly countries: readonly string[];
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly methods: readonly string[];
}

export function glanceAtRails(home: string): GlancedRails {
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
