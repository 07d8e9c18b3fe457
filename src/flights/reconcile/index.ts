import type { ProviderOrder } from '../../airlines/index.ts';
import { createEffects } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { inTurn } from '../../store/base/index.ts';
import { auditAlone, BY_SERVICE, type FlightsPorts, knownUntilMs, readBehind, writeAudit } from '../base/index.ts';
import { createEscrows } from '../bookings/index.ts';
import { knownAs } from '../offers/index.ts';
import { type Item, itemOf, type Tools } from './bookings.ts';
import { actsIn, authorizationsIn, historySince, transactionsOf, withoutEffects } from './chain.ts';
import { casesOf } from './escrows.ts';
import { markBehind, unmarkBehind } from './mark.ts';
import { paymentItems, payoutItems, releaseItems } from './money.ts';
import type { Finding, Reconciled, Reconciling } from './types.ts';

export { actsIn, transactionsOf, withoutEffects } from './chain.ts';
export { markBehind } from './mark.ts';
export type * from './types.ts';

/**
 * Compares a restored database with the cluster and the airline since then, writes what it lacks, and goes on from
 * there. The database's mark stops all other work until the end, so a run that dies can be repeated: what it wrote is
 * no longer a difference. @throws Problem `cluster_failed`, `provider_failed`
 */
export async function reconcile(given: FlightsPorts, { isDryRun, ...how }: Reconciling): Promise<Reconciled> {
  // These effects do not wait for the mark to go.
  const ports = { ...given, effects: createEffects(given) };
  const marked = await readBehind(ports.store);
  const sinceMs = how.sinceMs ?? marked?.since_ms ?? (await knownUntilMs(ports.store));
  if (!isDryRun) await markBehind(ports, 'by_hand', sinceMs);
  const items = await differences({ ports, escrows: createEscrows(ports), sinceMs });
  const findings = items.map(({ finding }) => finding);
  if (isDryRun) return { sinceMs, findings };
  for (const item of items) await item.carry();
  await auditAlone(ports, { ...BY_SERVICE, action: 'reconcile.end', subject: 'database', detail: countsOf(findings) });
  await unmarkBehind(ports);
  ports.log('warn', 'database_reconciled', { since: instant(sinceMs), ...countsOf(findings) });
  return { sinceMs, findings };
}

/** Counts findings by kind. */
export function countsOf(findings: readonly Finding[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of findings) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Finds all differences. Reads the chain before the database, because rows are written before their acts. */
async function differences(tools: Tools): Promise<Item[]> {
  const { ports, escrows, sinceMs } = tools;
  const { live } = await authoritiesOf(ports).look();
  const histories = await Promise.all(live.map((authority) => historySince(ports, authority, sinceMs)));
  // Two authorities may have signed the same transaction.
  const listed = [...new Map(histories.flat().map((entry) => [entry.signature, entry])).values()];
  const transactions = await transactionsOf(ports, await withoutEffects(ports, listed));
  const acts = await actsIn(ports, transactions);
  const authorized = await authorizationsIn(ports, transactions);
  const known = (await ports.provider?.orders?.(sinceMs)) ?? [];
  const { cases, orders } = await casesOf(ports, escrows, acts, known, authorized);
  const items: Item[] = [];
  for (const one of cases) {
    const item = await itemOf(tools, one);
    if (item) items.push(item);
  }
  const adopted = items.filter(({ finding }) => finding.kind === 'order_adopted').map(({ finding }) => finding.subject);
  return [
    ...items,
    ...orders.filter(({ status }) => status !== 'cancelled' && status !== 'failed').map((one) => orderItem(ports, one)),
    ...(await payoutItems(tools, acts, adopted)),
    ...releaseItems(tools, cases, adopted),
    ...(await paymentItems(tools)),
  ];
}

/** An order without an escrow, which no customer paid for. */
function orderItem(ports: FlightsPorts, { providerOrderId, reference, status }: ProviderOrder): Item {
  return {
    finding: {
      ...{ kind: 'order_unknown', subject: reference, state: status, amount: null, transaction: null },
      ...{ outcome: 'person', todo: `Cancel ${knownAs(providerOrderId)} with the airline: no escrow pays for it.` },
    },
    carry: () =>
      inTurn(ports.store, [], (tx) =>
        writeAudit(tx, ports, {
          ...{ ...BY_SERVICE, action: 'reconcile', subject: reference },
          detail: { kind: 'order_unknown', provider_order_id: providerOrderId },
        }),
      ),
  };
}
