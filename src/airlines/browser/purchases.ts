import { randomBytes } from 'node:crypto';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { type BookOutcome, boughtNothing, type NothingBought, type Purchase } from '../fulfiller.ts';
import { CARD_ENDS } from './call-off.ts';
import type { Money, Recipe } from './recipes/index.ts';
import type { BrowserPurchaseTable, Store } from './tables.ts';

/** Our own record of what was bought: the carrier has another one, which is asked where ours doesn't know. */

export type PurchaseRow = Selectable<BrowserPurchaseTable>;

export interface Contact {
  readonly given_name: string;
  readonly family_name: string;
  readonly email: string;
  readonly phone_number: string;
}

interface Ports {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

export interface Confirmed {
  readonly bookingReference: string;
  /** null: the carrier doesn't say; then it is what the till asked for. */
  readonly paid: Money | null;
}

const place = (reference: string): string => `browser_purchases.contact_sealed ${reference}`;

/** Our record of a purchase. */
export const rowOf = ({ store }: Pick<Ports, 'store'>, reference: string): Promise<PurchaseRow | undefined> =>
  store.selectFrom('browser_purchases').selectAll().where('reference', '=', reference).executeTakeFirst();

export const contactOf = (
  { secrets }: Pick<Ports, 'secrets'>,
  { reference, contact_sealed: sealed }: PurchaseRow,
): Contact | null => (sealed === '' ? null : (JSON.parse(secrets.decrypt(place(reference), sealed)) as Contact));

/** Begins a visit under a reference, or takes over one that never reached the button; null past that. */
export async function begin(
  ports: Ports,
  { reference, offerId, passengers }: Purchase,
  recipe: Recipe,
): Promise<string | null> {
  const run = randomBytes(8).toString('hex');
  const nowMs = ports.clock.now();
  const [lead] = passengers;
  if (!lead) throw new Error('a purchase without passengers');
  const { given_name, family_name, email, phone_number } = lead;
  const contact: Contact = { given_name, family_name, email, phone_number };
  const begun = await ports.store
    .insertInto('browser_purchases')
    .values({
      reference,
      run,
      state: 'begun',
      carrier: recipe.carrier.code,
      recipe_version: recipe.version,
      offer_id: offerId,
      passenger_count: passengers.length,
      contact_sealed: ports.secrets.encrypt(place(reference), JSON.stringify(contact)),
      ...EMPTY,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) =>
      conflict
        .column('reference')
        .doUpdateSet({ run, recipe_version: recipe.version, updated_at_ms: nowMs })
        .where('browser_purchases.state', '=', 'begun'),
    )
    .returning('run')
    .executeTakeFirst();
  return begun?.run ?? null;
}

/** Gives the visit up: nothing was bought. Its card is ended with it. */
export async function end(ports: Ports, reference: string, run: string, outcome: NothingBought): Promise<void> {
  const nowMs = ports.clock.now();
  await ports.store
    .updateTable('browser_purchases')
    .set({
      state: 'ended',
      outcome: JSON.stringify(outcome),
      contact_sealed: '',
      card: CARD_ENDS,
      card_due_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .where('reference', '=', reference)
    .where('run', '=', run)
    .where('state', '=', 'begun')
    .execute();
}

/** Counts a visit whose recipe did not fit; answers with how many there were. */
export async function misfit(ports: Ports, reference: string, run: string): Promise<number> {
  await ports.store
    .updateTable('browser_purchases')
    .set((row) => ({ misfits: row('misfits', '+', 1), updated_at_ms: ports.clock.now() }))
    .where('reference', '=', reference)
    .where('run', '=', run)
    .where('state', '=', 'begun')
    .execute();
  return Number((await rowOf(ports, reference))?.misfits ?? 0);
}

/**
 * Puts on record that a card is issued and given to the till: from now on it may be charged. Who gets true may do so;
 * who doesn't may never: another visit has taken over, or came as far before. It is on the disk when this returns.
 */
export async function arm(
  ports: Ports,
  reference: string,
  run: string,
  total: Money,
  pendingMs: number,
): Promise<boolean> {
  const nowMs = ports.clock.now();
  const armed = await ports.store
    .updateTable('browser_purchases')
    .set({
      state: 'pressed',
      card: 'issued',
      total_decimal: total.decimal,
      total_currency: total.currency,
      pressed_at_ms: null,
      pending_until_ms: nowMs + pendingMs,
      updated_at_ms: nowMs,
    })
    .where('reference', '=', reference)
    .where('run', '=', run)
    .where('state', '=', 'begun')
    .executeTakeFirst();
  return armed.numUpdatedRows > 0n;
}

/**
 * Puts on record that the button is pressed next. Who gets true presses it, once. A visit that slept past its time gets
 * false: a person may have decided meanwhile. It is on the disk when this returns.
 */
export async function press(ports: Ports, reference: string, run: string, pendingMs: number): Promise<boolean> {
  const nowMs = ports.clock.now();
  const pressed = await ports.store
    .updateTable('browser_purchases')
    .set({ pressed_at_ms: nowMs, pending_until_ms: nowMs + pendingMs, updated_at_ms: nowMs })
    .where(isArmed(reference, run))
    .where('card', '=', 'issued')
    .where('pending_until_ms', '>', nowMs)
    .executeTakeFirst();
  return pressed.numUpdatedRows > 0n;
}

/** Takes back that the card may be charged: its till waits unpaid, and the visit ends there. */
export async function release(ports: Ports, reference: string, run: string): Promise<void> {
  await ports.store
    .updateTable('browser_purchases')
    .set({ state: 'begun', pending_until_ms: null, updated_at_ms: ports.clock.now() })
    .where(isArmed(reference, run))
    .execute();
}

/** This visit's, with a card that may be charged, before the press. */
const isArmed = (reference: string, run: string) =>
  sql<SqlBool>`reference = ${reference} and run = ${run} and state = 'pressed' and pressed_at_ms is null`;

/** Waits for a confirmation this much longer from now on; 0: nobody knows from now on. */
export async function waitFor(ports: Ports, reference: string, pendingMs: number): Promise<void> {
  const nowMs = ports.clock.now();
  await ports.store
    .updateTable('browser_purchases')
    .set({ pending_until_ms: nowMs + pendingMs, updated_at_ms: nowMs })
    .where('reference', '=', reference)
    .where('confirmed_at_ms', 'is', null)
    .execute();
}

/** The first confirmation counts; it says nothing of a price in another currency, which only a person can judge. */
export async function confirm(
  ports: Ports,
  { reference, total_decimal: totalDecimal, total_currency: totalCurrency }: PurchaseRow,
  { bookingReference, paid }: Confirmed,
  by: NonNullable<PurchaseRow['confirmed_by']>,
): Promise<boolean> {
  if (paid && paid.currency !== totalCurrency) return false;
  const nowMs = ports.clock.now();
  await ports.store
    .updateTable('browser_purchases')
    .set({
      booking_reference: bookingReference,
      paid_amount_decimal: paid?.decimal ?? totalDecimal,
      confirmed_by: by,
      confirmed_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .where('reference', '=', reference)
    .where('state', '=', 'pressed')
    .where('confirmed_at_ms', 'is', null)
    .execute();
  return true;
}

/** Takes the next look at the booking's page, unless somebody has looked since `agoMs`. */
export async function takeLook(ports: Ports, reference: string, agoMs: number): Promise<boolean> {
  const nowMs = ports.clock.now();
  const taken = await ports.store
    .updateTable('browser_purchases')
    .set({ asked_at_ms: nowMs })
    .where('reference', '=', reference)
    .where((either) => either.or([either('asked_at_ms', 'is', null), either('asked_at_ms', '<=', nowMs - agoMs)]))
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

export async function cancelled(ports: Ports, reference: string): Promise<void> {
  const nowMs = ports.clock.now();
  await ports.store
    .updateTable('browser_purchases')
    .set({ cancelled_at_ms: nowMs, updated_at_ms: nowMs })
    .where('reference', '=', reference)
    .where('confirmed_at_ms', 'is not', null)
    .where('cancelled_at_ms', 'is', null)
    .execute();
}

const EMPTY = {
  total_decimal: null,
  total_currency: null,
  pressed_at_ms: null,
  pending_until_ms: null,
  booking_reference: null,
  paid_amount_decimal: null,
  confirmed_by: null,
  confirmed_at_ms: null,
  cancelled_at_ms: null,
  asked_at_ms: null,
  outcome: null,
  card: null,
  card_due_at_ms: null,
  misfits: 0,
} as const;

/** How a purchase stands; null: nothing was paid, and whoever takes the visit over may. */
export function outcomeOf({ clock }: Pick<Ports, 'clock'>, row: PurchaseRow): BookOutcome | null {
  const nowMs = clock.now();
  if (row.state === 'begun') return null;
  if (row.state === 'ended') return endedAs(row.outcome);
  if (row.confirmed_at_ms === null || row.booking_reference === null) {
    const mayCome = nowMs < (row.pending_until_ms ?? 0);
    return { kind: mayCome ? 'pending' : 'payment_pressed_no_confirmation' };
  }
  return {
    kind: 'booked',
    bookingReference: row.booking_reference,
    // Such carriers issue no ticket: what they send is a receipt by the booking's own reference.
    documents: Array.from({ length: row.passenger_count }, () => ({
      type: 'itinerary_receipt',
      number: row.booking_reference ?? '',
    })),
    paidAmountDecimal: row.paid_amount_decimal ?? '',
    confirmedAtMs: row.confirmed_at_ms,
    cancelledAtMs: row.cancelled_at_ms,
  };
}

/** Our own writing, read back. */
function endedAs(text: string | null): NothingBought {
  const outcome = JSON.parse(text ?? '{"kind":"offer_gone"}') as BookOutcome;
  return boughtNothing(outcome) ? outcome : { kind: 'offer_gone' };
}
