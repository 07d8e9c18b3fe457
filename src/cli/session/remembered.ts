import type { FlightsClient } from '../../client/index.ts';
import type { ClientStore, NotedIntent, PaymentRecord } from '../../client/journal/index.ts';
import { formatUsdc } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import { isRecord, type Terminal } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { settingsIn } from '../settings/index.ts';
import { type KnownFare, keptFare } from './known-fare.ts';
import type { KnownJourney } from './recent.ts';
import type { Surroundings } from './surroundings.ts';

/** The notes on an intent beside its support code: enough for lists, and for the ages of passengers. */
export interface IntentNotes {
  readonly offer_id?: string;
  readonly amount?: string;
  readonly expires_at?: string;
  readonly status?: string;
  readonly order_id?: string;
  /** Number of passengers if there are several; `refunded`: how many of them were refunded. */
  readonly passengers?: string;
  readonly refunded?: string;
  readonly route?: string;
  readonly departure_date?: string;
  readonly arrival_date?: string;
  readonly fare?: KnownFare;
}

export function notesOf(remembered: Pick<NotedIntent, 'summary'> | undefined): IntentNotes {
  if (!isRecord(remembered?.summary)) return {};
  const fare = keptFare(remembered.summary.fare);
  const said = Object.entries(remembered.summary).filter(([, value]) => typeof value === 'string');
  return { ...Object.fromEntries(said), ...(fare && { fare }) };
}

/** Updates the notes on an intent of this home; there are none on other intents. */
export async function noteIntent(
  store: ClientStore,
  intent: Intent,
  journey: KnownJourney | null = null,
): Promise<void> {
  const remembered = await store.intent(intent.intent_id);
  if (!remembered) return;
  const before = notesOf(remembered);
  const now: IntentNotes = {
    ...before,
    offer_id: intent.offer_id,
    amount: formatUsdc(BigInt(intent.escrow.amount)),
    expires_at: intent.expires_at,
    status: intent.status,
    ...(intent.order_id !== null && { order_id: intent.order_id }),
    ...(intent.passenger_count > 1 && { passengers: String(intent.passenger_count) }),
    ...(intent.passenger_refunds && {
      refunded: String(intent.passenger_refunds.flatMap(({ passengers }) => passengers).length),
    }),
    ...(journey && { route: journey.route, departure_date: journey.departureDate }),
    ...(journey?.arrivalDate !== undefined && { arrival_date: journey.arrivalDate }),
    ...(journey?.fare && { fare: journey.fare }),
  };
  if (JSON.stringify(before) !== JSON.stringify(now)) await store.describe(intent.intent_id, now);
}

/** Asks the service for intents of this home, and notes each; skips those that the service has forgotten. */
export async function* intentsNow(
  { session, signal }: Pick<Surroundings, 'session' | 'signal'>,
  noted: readonly NotedIntent[],
): AsyncGenerator<readonly [NotedIntent, Intent]> {
  const [store, flights] = [await session.store(), await session.flights()];
  for (const one of noted) {
    try {
      const intent = await flights.intent(one.intentId, { signal });
      await noteIntent(store, intent);
      yield [one, intent];
    } catch (error) {
      if (!isProblem(error, 'intent_not_found')) throw error;
    }
  }
}

/** Awaits a write in this home after a payment. A failure is shown, and does not hide the result. */
export async function besides(
  { terminal }: { readonly terminal: Pick<Terminal, 'note'> },
  writing: Promise<void>,
): Promise<void> {
  try {
    await writing;
  } catch (error) {
    terminal.note(`Could not be saved here: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The support code of an intent, or of the intent of an order; null if it is not saved here. */
export async function supportCodeOf(store: ClientStore, id: string): Promise<string | null> {
  const intent = await store.intent(id);
  if (intent) return intent.supportCode;
  const noted = await store.notedOf({ by: 'order', is: [id] });
  return (noted && (await store.intent(noted.intentId)))?.supportCode ?? null;
}

/**
 * Adds what only the support code shows: the booking reference, and the operator's reason for a rejection. The code is
 * sent only if there may be one of them, and once, because a wrong code counts against its sender.
 */
export async function withReference(
  { session, environment, signal, terminal }: Surroundings,
  flights: FlightsClient,
  intent: Intent,
  /** False keeps the journal closed, for a program that only polls. */
  isShown = !terminal.settings.json,
): Promise<Intent> {
  const isRejected = intent.refund_request?.state === 'rejected';
  if (!isRejected && !(isShown && intent.order_id !== null)) return intent;
  const given = settingsIn(environment)('support_code');
  const remembered = await supportCodeOf(await session.store(), intent.intent_id);
  // A variable for another intent must not use up the attempts of this one just to show a reference.
  const supportCode = isRejected ? given || remembered : (remembered ?? given);
  if (!supportCode) return intent;
  try {
    return await flights.intent(intent.intent_id, { signal, supportCode });
  } catch (error) {
    // The booking itself is known: a missing reference is no failure.
    if (!isProblem(error)) throw error;
    const what = isRejected ? "operator's reason" : 'booking reference';
    terminal.note(`The ${what} isn't shown: ${error.message}`);
    return intent;
  }
}

/** The payment from here that funded an escrow; null if another wallet paid. */
export async function fundingPayment(store: ClientStore, intent: Intent) {
  for (const { transaction, network } of await store.paymentsTo(intent.escrow.address)) {
    if (transaction) return { transaction, network };
  }
  return null;
}

/** The payment into the escrow that was signed here and may have been carried out, an open one first. */
export async function signedBooking(store: ClientStore, intent: Intent): Promise<PaymentRecord | null> {
  const signed = (await store.paymentsTo(intent.escrow.address)).filter(({ state }) =>
    ['signed', 'sent', 'refused', 'answered'].includes(state),
  );
  return signed.find(({ open }) => open) ?? signed[0] ?? null;
}
