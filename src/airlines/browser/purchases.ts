import { randomBytes } from 'node:crypto';
import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import { type BookOutcome, boughtNothing, type NothingBought, type Purchase } from '../fulfiller.ts';
import { CARD_ENDS } from './call-off.ts';
import type { Money, Recipe } from './recipes/index.ts';
import type { BrowserPurchaseTable, Store } from './tables.ts';

/** Our own record of purchases, and their cards. The carrier has a record too, which is asked where ours has no answer. */

export type PurchaseRow = Selectable<BrowserPurchaseTable>;
export type Contact = Pick<Passenger, 'given_name' | 'family_name' | 'email' | 'phone_number'>;

interface Ports {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

export interface Confirmed {
  readonly bookingReference: string;
  /** null: the carrier doesn't say, so it is the total of the till. */
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

/** While this visit is on its way to the till. */
const changeBegun = (ports: Ports, reference: string, run: string) =>
  change(ports, reference).where('run', '=', run).where('state', '=', 'begun');

/** While this visit has a card that may be charged, and has not pressed. */
const changeArmed = (ports: Ports, reference: string, run: string) =>
  change(ports, reference).where('run', '=', run).where('state', '=', 'pressed').where('pressed_at_ms', 'is', null);

const isChanged = async (update: ReturnType<typeof change>): Promise<boolean> =>
  (await update.executeTakeFirst()).numUpdatedRows > 0n;

/** Begins a visit under a reference, or takes over one that never reached the button; null past that. */
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

/** Gives the visit up: nothing was bought. Its card is ended with it. */
export async function end(ports: Ports, reference: string, run: string, outcome: NothingBought): Promise<void> {
  await changeBegun(ports, reference, run)
    .set({ state: 'ended', outcome: JSON.stringify(outcome), contact_sealed: '' })
    .set({ card: CARD_ENDS, card_due_at_ms: ports.clock.now() })
    .execute();
}

/** Counts a visit whose recipe did not fit. @returns how many there were */
export async function misfit(ports: Ports, reference: string, run: string): Promise<number> {
  await changeBegun(ports, reference, run)
    .set((row) => ({ misfits: row('misfits', '+', 1) }))
    .execute();
  return Number((await rowOf(ports, reference))?.misfits ?? 0);
}

/**
 * Puts on record that a card is issued and given to the till, and may be charged from now on. Only a caller that gets true
 * may do so; false: another visit has taken over, or came as far before. It is on the disk when this returns.
 */
export const arm = (ports: Ports, reference: string, run: string, total: Money, pendingMs: number): Promise<boolean> =>
  isChanged(
    changeBegun(ports, reference, run)
      .set({ state: 'pressed', card: 'issued', pressed_at_ms: null, pending_until_ms: ports.clock.now() + pendingMs })
      .set({ total_decimal: total.decimal, total_currency: total.currency }),
  );

/**
 * Puts on record that the button is pressed next; a caller that gets true presses it, once. A visit that slept past its
 * time gets false: a person may have decided meanwhile. It is on the disk when this returns.
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

/** Takes back that the card may be charged: its till waits unpaid, and the visit ends there. */
export async function release(ports: Ports, reference: string, run: string): Promise<void> {
  await changeArmed(ports, reference, run).set({ state: 'begun', pending_until_ms: null }).execute();
}

/** Waits this much longer for a confirmation; 0: the outcome is unknown from now on. */
export async function waitFor(ports: Ports, reference: string, pendingMs: number): Promise<void> {
  await change(ports, reference)
    .set({ pending_until_ms: ports.clock.now() + pendingMs })
    .where('confirmed_at_ms', 'is', null)
    .execute();
}

/** Takes the first confirmation. A price in another currency confirms nothing: only a person can judge it. */
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

/** Takes the next look at the booking's page, unless there was one since `agoMs`. */
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

/** The outcome of a purchase by our record; null: nothing was paid, and the next visit may pay. */
export function outcomeOf({ clock }: Pick<Ports, 'clock'>, row: PurchaseRow): BookOutcome | null {
  if (row.state === 'begun') return null;
  if (row.state === 'ended') return endedAs(row.outcome);
  const { booking_reference: bookingReference, confirmed_at_ms: confirmedAtMs } = row;
  if (confirmedAtMs === null || bookingReference === null) {
    const mayCome = clock.now() < (row.pending_until_ms ?? 0);
    return { kind: mayCome ? 'pending' : 'payment_pressed_no_confirmation' };
  }
  // Such carriers issue no ticket: they send a receipt by the booking's own reference.
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

/** A card as a till asks for it. It exists in memory alone: never write it down, log it, or show it. */
export interface Card {
  readonly number: string;
  /** YYYY-MM. */
  readonly expiry: string;
  readonly cvc: string;
  readonly holder: string;
}

/** Issues virtual cards, each for one purchase. */
export interface CardIssuer {
  /** Its cards are invented: they buy nothing anywhere but in a sandbox. */
  readonly isSandbox: boolean;
  /**
   * The same reference gets the same card. It can be charged once, exactly this amount.
   * @param request `merchant` is the carrier's name, for an issuer that ties a card to who may charge it
   * @throws Problem `provider_failed` where there is no card: nothing was bought then
   */
  issue(request: {
    readonly reference: string;
    readonly amountDecimal: string;
    readonly currency: string;
    readonly merchant: string;
  }): Promise<Card>;
  /** Ends a card that was not used. Does nothing to one that is gone, or was never issued. */
  revoke(reference: string): Promise<void>;
}

/** The words of its index. */
const TO_END = sql.raw<SqlBool>("card = 'ending'");
const MOST_AT_ONCE = 20;
const AGAIN_MS = 60_000;

/**
 * Has the issuer end the cards of purchases that bought nothing: the decision is written first (`callOff`). A card that
 * the issuer does not end now is tried again in a minute.
 */
export async function endCards({
  store,
  clock,
  log,
  settings,
}: Pick<Ports, 'store' | 'clock'> & {
  readonly log: Log;
  readonly settings: { readonly cards: CardIssuer };
}): Promise<void> {
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
