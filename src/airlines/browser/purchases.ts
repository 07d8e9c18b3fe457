import { randomBytes } from 'node:crypto';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Passenger } from '../../wire/flights/index.ts';
import { type BookOutcome, boughtNothing, type NothingBought, type Purchase } from '../fulfiller.ts';
import { CARD_ENDS } from './call-off.ts';
import type { BrowserSettings, Shop } from './ports.ts';
import type { Money, Recipe } from './recipes/index.ts';
import type { BrowserPurchaseTable } from './tables.ts';

/** Our record of purchases and their cards. If it has no outcome, the carrier is asked. */

export type PurchaseRow = Selectable<BrowserPurchaseTable>;
export type Contact = Pick<Passenger, 'given_name' | 'family_name' | 'email' | 'phone_number'>;

type Ports = Pick<Shop, 'store' | 'secrets' | 'clock'>;

export interface Confirmed {
  readonly bookingReference: string;
  /** Null if the carrier gives none; then the till's total counts. */
  readonly paid: Money | null;
}

const place = (reference: string): string => `browser_purchases.contact_sealed ${reference}`;

export const rowOf = ({ store }: Pick<Ports, 'store'>, reference: string): Promise<PurchaseRow | undefined> =>
  store.selectFrom('browser_purchases').selectAll().where('reference', '=', reference).executeTakeFirst();

export const contactOf = (
  { secrets }: Pick<Ports, 'secrets'>,
  { reference, contact_sealed: sealed }: PurchaseRow,
): Contact | null => (sealed === '' ? null : (JSON.parse(secrets.decrypt(place(reference), sealed)) as Contact));

const change = ({ store, clock }: Ports, reference: string) =>
  store.updateTable('browser_purchases').set({ updated_at_ms: clock.now() }).where('reference', '=', reference);

/** Changes a purchase while this visit is on its way to the till. */
const changeBegun = (ports: Ports, reference: string, run: string) =>
  change(ports, reference).where('run', '=', run).where('state', '=', 'begun');

/** Changes a purchase while this visit has a chargeable card and has not pressed. */
const changeArmed = (ports: Ports, reference: string, run: string) =>
  change(ports, reference).where('run', '=', run).where('state', '=', 'pressed').where('pressed_at_ms', 'is', null);

const isChanged = async (update: ReturnType<typeof change>): Promise<boolean> =>
  (await update.executeTakeFirst()).numUpdatedRows > 0n;

/** Begins a visit, or takes over from an earlier one; null once a card is issued or the purchase has ended. */
export async function begin(
  { store, clock, secrets }: Ports,
  { reference, offerId, passengers }: Purchase,
  { carrier, version }: Recipe,
): Promise<string | null> {
  const run = randomBytes(8).toString('hex');
  const nowMs = clock.now();
  const [lead] = passengers;
  if (!lead) throw new Error('a purchase without passengers');
  const { given_name, family_name, email, phone_number } = lead;
  const contact: Contact = { given_name, family_name, email, phone_number };
  const begun = await store
    .insertInto('browser_purchases')
    .values({
      reference,
      run,
      state: 'begun',
      carrier: carrier.code,
      recipe_version: version,
      offer_id: offerId,
      passenger_count: passengers.length,
      contact_sealed: secrets.encrypt(place(reference), JSON.stringify(contact)),
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    })
    .onConflict((conflict) =>
      conflict
        .column('reference')
        .doUpdateSet({ run, recipe_version: version, updated_at_ms: nowMs })
        .where('browser_purchases.state', '=', 'begun'),
    )
    .returning('run')
    .executeTakeFirst();
  return begun?.run ?? null;
}

export async function end(ports: Ports, reference: string, run: string, outcome: NothingBought): Promise<void> {
  await changeBegun(ports, reference, run)
    .set({ state: 'ended', outcome: JSON.stringify(outcome), contact_sealed: '' })
    .set({ card: CARD_ENDS, card_due_at_ms: ports.clock.now() })
    .execute();
}

/** Counts a visit whose recipe did not fit. @returns their number */
export async function misfit(ports: Ports, reference: string, run: string): Promise<number> {
  await changeBegun(ports, reference, run)
    .set((row) => ({ misfits: row('misfits', '+', 1) }))
    .execute();
  return Number((await rowOf(ports, reference))?.misfits ?? 0);
}

/**
 * Records on disk that a card is issued and may be charged from now on. Only a caller that gets true may issue it;
 * false if another visit took over, or came this far before.
 */
export const arm = (ports: Ports, reference: string, run: string, total: Money, pendingMs: number): Promise<boolean> =>
  isChanged(
    changeBegun(ports, reference, run)
      .set({ state: 'pressed', card: 'issued', pressed_at_ms: null, pending_until_ms: ports.clock.now() + pendingMs })
      .set({ total_decimal: total.decimal, total_currency: total.currency }),
  );

/**
 * Records on disk that the button is pressed next; a caller that gets true presses it once. False for a visit past its
 * time, as a person may have decided meanwhile.
 */
export function press(ports: Ports, reference: string, run: string, pendingMs: number): Promise<boolean> {
  const nowMs = ports.clock.now();
  return isChanged(
    changeArmed(ports, reference, run)
      .set({ pressed_at_ms: nowMs, pending_until_ms: nowMs + pendingMs })
      .where('card', '=', 'issued')
      .where('pending_until_ms', '>', nowMs),
  );
}

/** Takes `arm` back: the till still waits unpaid, and the visit ends. */
export async function release(ports: Ports, reference: string, run: string): Promise<void> {
  await changeArmed(ports, reference, run).set({ state: 'begun', pending_until_ms: null }).execute();
}

/** Ends a purchase that was pressed in vain, unless a person may have decided meanwhile. */
export function pressedInVain(ports: Ports, reference: string, run: string, outcome: NothingBought): Promise<boolean> {
  const nowMs = ports.clock.now();
  return isChanged(
    change(ports, reference)
      .set({
        state: 'ended',
        outcome: JSON.stringify(outcome),
        contact_sealed: '',
        card: CARD_ENDS,
        card_due_at_ms: nowMs,
      })
      .where('run', '=', run)
      .where('state', '=', 'pressed')
      .where('card', '=', 'issued')
      .where('confirmed_at_ms', 'is', null)
      .where('pending_until_ms', '>', nowMs),
  );
}

/** Extends the wait for a confirmation; with 0 the outcome is unknown from now on. */
export async function waitFor(ports: Ports, reference: string, pendingMs: number): Promise<void> {
  await change(ports, reference)
    .set({ pending_until_ms: ports.clock.now() + pendingMs })
    .where('confirmed_at_ms', 'is', null)
    .execute();
}

/** Records the first confirmation; false for a price in another currency, which only a person can judge. */
export async function confirm(
  ports: Ports,
  { reference, total_decimal: totalDecimal, total_currency: totalCurrency }: PurchaseRow,
  { bookingReference, paid }: Confirmed,
  by: NonNullable<PurchaseRow['confirmed_by']>,
): Promise<boolean> {
  if (paid && paid.currency !== totalCurrency) return false;
  await change(ports, reference)
    .set({ booking_reference: bookingReference, paid_amount_decimal: paid?.decimal ?? totalDecimal })
    .set({ confirmed_by: by, confirmed_at_ms: ports.clock.now() })
    .where('state', '=', 'pressed')
    .where('confirmed_at_ms', 'is', null)
    .execute();
  return true;
}

/** Claims a look at the booking's page, at most one in `agoMs`. */
export async function takeLook({ store, clock }: Ports, reference: string, agoMs: number): Promise<boolean> {
  const nowMs = clock.now();
  const taken = await store
    .updateTable('browser_purchases')
    .set({ asked_at_ms: nowMs })
    .where('reference', '=', reference)
    .where((either) => either.or([either('asked_at_ms', 'is', null), either('asked_at_ms', '<=', nowMs - agoMs)]))
    .executeTakeFirst();
  return taken.numUpdatedRows > 0n;
}

export async function cancelled(ports: Ports, reference: string): Promise<void> {
  await change(ports, reference)
    .set({ cancelled_at_ms: ports.clock.now() })
    .where('confirmed_at_ms', 'is not', null)
    .where('cancelled_at_ms', 'is', null)
    .execute();
}

/** The outcome in our record; null if nothing was paid and the next visit may pay. */
export function outcomeOf({ clock }: Pick<Ports, 'clock'>, row: PurchaseRow): BookOutcome | null {
  if (row.state === 'begun') return null;
  if (row.state === 'ended') return endedAs(row.outcome);
  const { booking_reference: bookingReference, confirmed_at_ms: confirmedAtMs } = row;
  if (confirmedAtMs === null || bookingReference === null) {
    const mayCome = clock.now() < (row.pending_until_ms ?? 0);
    return { kind: mayCome ? 'pending' : 'payment_pressed_no_confirmation' };
  }
  // Such carriers issue receipts by booking reference instead of tickets.
  const receipt = { type: 'itinerary_receipt', number: bookingReference };
  return {
    kind: 'booked',
    bookingReference,
    documents: Array.from({ length: row.passenger_count }, () => receipt),
    paidAmountDecimal: row.paid_amount_decimal ?? '',
    confirmedAtMs,
    cancelledAtMs: row.cancelled_at_ms,
  };
}

function endedAs(text: string | null): NothingBought {
  const outcome = JSON.parse(text ?? '{"kind":"offer_gone"}') as BookOutcome;
  return boughtNothing(outcome) ? outcome : { kind: 'offer_gone' };
}

/** Spelled as in its index, so that the database uses it. */
const TO_END = sql.raw<SqlBool>("card = 'ending'");
const MOST_AT_ONCE = 20;
const AGAIN_MS = 60_000;

type EndingPorts = Pick<Shop, 'store' | 'clock' | 'log'> & { readonly settings: Pick<BrowserSettings, 'cards'> };

/** Has the issuer end the cards marked `ending`, which bought nothing; retries after a minute. */
export async function endCards({ store, clock, log, settings }: EndingPorts): Promise<void> {
  const nowMs = clock.now();
  const due = await store
    .selectFrom('browser_purchases')
    .select('reference')
    .where(TO_END)
    .where('card_due_at_ms', '<=', nowMs)
    .orderBy('card_due_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  for (const { reference } of due) {
    const isEnded = await settings.cards.revoke(reference).then(
      () => true,
      (error: unknown) => {
        const errorName = error instanceof Error ? error.name : 'unknown';
        log('error', 'card_not_ended', { subject: reference, error_name: errorName });
        return false;
      },
    );
    await store
      .updateTable('browser_purchases')
      .set(isEnded ? { card: 'ended' } : { card_due_at_ms: nowMs + AGAIN_MS })
      .where('reference', '=', reference)
      .where(TO_END)
      .execute();
  }
}
