import { regained } from '../../store/base/index.ts';
import type { FlightsPorts, IntentRow } from '../base/index.ts';
import { type Taken, takenBy } from './creations.ts';
import { checkDay, checkLocks } from './limits.ts';
import { retire } from './retire.ts';

/** Shown to whoever paid for it: from then on it is no creation any more. */
export const isShown = (row: IntentRow): boolean => row.opened_at_ms !== null && row.abandoned === 0;

/**
 * Writes the row, unless something is in its way. An expired intent gives way to it.
 * @throws Problem `too_many_locks`, `booking_disabled`
 */
export const insertUnlessTaken = (ports: FlightsPorts, row: IntentRow): Promise<Taken | null> => {
  const { store, clock, options } = ports;
  return store.transaction().execute(async (tx) => {
    const holder = await tx
      .selectFrom('intents')
      .selectAll()
      .where('active_key', '=', row.active_key)
      .executeTakeFirst();
    if (holder && (!isShown(holder) || holder.expires_at_ms > clock.now())) return { by: 'pair', holder };
    const taken = await takenBy(tx, row, options.mostUnpaidCreations);
    if (taken) return taken;
    await checkLocks(tx, ports, row.funding_wallet);
    await checkDay(tx, ports, BigInt(row.amount), row.active_key);
    if (holder) await retire(tx, holder, 'intent_expired', clock.now());
    // Its escrow is on the disk as an effect before it is opened, and its payment before it is sent: so is this then.
    await regained(tx).insertInto('intents').values(row).execute();
    return null;
  });
};

/** Gives up a creation that is certain never to be paid; false when it was shown, or given up before. */
export const abandon = ({ store, clock }: FlightsPorts, row: IntentRow): Promise<boolean> =>
  store.transaction().execute(async (tx) => {
    const fresh = await tx.selectFrom('intents').selectAll().where('intent_id', '=', row.intent_id).executeTakeFirst();
    if (!fresh || fresh.opened_at_ms !== null || fresh.abandoned === 1) return false;
    await retire(tx, fresh, 'creation_unpaid', clock.now());
    return true;
  });

/**
 * Decides about a creation whose request died: a paid one is shown (its customer gets the code by sending the same
 * payment again), an unpaid one is given up and its escrow closed.
 */
export async function finishCreation(ports: FlightsPorts, row: IntentRow): Promise<'settled' | 'failed' | 'unknown'> {
  const { store, clock } = ports;
  const outcome = await ports.paywall.outcome(row.payment_key ?? '');
  if (outcome === 'failed') await abandon(ports, row);
  if (outcome === 'settled') {
    await store
      .updateTable('intents')
      .set({ opened_at_ms: clock.now(), creating_key: null, updated_at_ms: clock.now() })
      .where('intent_id', '=', row.intent_id)
      .where('opened_at_ms', 'is', null)
      .where('abandoned', '=', 0)
      .execute();
  }
  return outcome;
}
