import { instant } from '../../kernel/clock.ts';
import { checkPassengers } from '../../kernel/domain/passengers.ts';
import { agesOf } from '../../kernel/domain/travel-ages.ts';
import { problem } from '../../kernel/problems.ts';
import type { PaidCall, Payment } from '../../payments/index.ts';
import { inTurn } from '../../store/base/index.ts';
import type { BookRequest, BookResponse, Passenger } from '../../wire/flights/index.ts';
import type { Asked, BookingRow, FlightsPorts, IntentRow, Store, Tiers } from '../base/index.ts';
import { bookingOf, checkOpen, intentToBook, lockedOffer, shownIntent } from '../base/index.ts';
import { checkPriceHolds, checkUnsold, configured, isLowcost, loadLowcostOffers } from '../offers/index.ts';
import { dropUnpaid, holdOrDrop } from './creations.ts';
import { checkProgram } from './escrows.ts';
import { takesParts } from './hold.ts';
import { sealPassengers } from './identity.ts';
import type { IntentTools } from './intents.ts';
import { beginBooking } from './machine.ts';
import { queueFunded } from './steps.ts';

/** POST /air/book (CONTRACT, section 2): check the live offer, verify, record, settle, verify the funding, queue. */
export function bookCall(tools: IntentTools, { body: request, url, client }: Asked<BookRequest>): PaidCall {
  const { ports, escrows, funds } = tools;
  const { store, clock, options } = ports;
  /** The intent as `check` read it. Its payer and its amount never change. */
  let checked: IntentRow | undefined;
  const intentOfThis = async () => checked ?? (await shownIntent(store, request.intent_id));
  /** The booking that this very request wrote. */
  let recorded: BookingRow | undefined;
  return {
    resource: 'POST /air/book',
    url,
    request,
    settle: 'before',
    async check({ payer }) {
      configured(ports.provider);
      await checkOpen(ports, 'booking');
      const { intent, booking } = await intentToBook(store, request.intent_id);
      checkBookable(intent, booking, clock.now());
      checked = intent;
      await checkUnsold(store, intent.sale_key, intent.intent_id);
      await checkTravellers(ports, request.passengers, intent);
      const escrow = await escrows.readOrReopen(intent);
      if (escrow?.state !== 'open') throw problem('escrow_missing');
      if (intent.program_id === ports.escrowProgram) await checkProgram(ports);
      await ports.checks.look({ client, payer }, (tiers) => checkHolds(ports, tiers, intent));
      if (!isLowcost(intent.offer_id)) {
        await funds.checkBalance(BigInt(intent.amount), { isPaid: payer !== null, except: intent.intent_id });
      }
      return {
        amount: BigInt(intent.amount),
        payTo: intent.escrow_address,
        asset: intent.mint,
        description: `Fund the escrow of ${intent.intent_id}`,
        authorization: () => authorizationFor(tools, intent),
      };
    },
    async prepare(payment) {
      recorded = await record(ports, request, await intentOfThis(), payment);
    },
    async perform(payment) {
      const intent = await intentOfThis();
      let booking = recorded ?? (await bookingOf(store, intent.intent_id));
      if (booking?.payment_key !== payment.key) booking = await record(ports, request, intent, payment);
      const { requestedAt, isOvertaken } = await queueFunded(ports, escrows, intent, booking, 'payment');
      const body: BookResponse = {
        intent_id: intent.intent_id,
        status: isOvertaken ? (await shownIntent(store, intent.intent_id)).status : intent.status,
        booking: { state: 'queued', requested_at: requestedAt },
        poll_after_ms: options.pollAfterMs,
      };
      return { status: 200, body };
    },
    undo: (payment) => dropUnpaid(ports, { intent_id: request.intent_id, payment_key: payment.key }),
  };
}

/** The authorization that may pay instead, if the escrow's program knows it and the authority can lend the rents. */
async function authorizationFor({ ports, escrows, funds }: IntentTools, intent: IntentRow) {
  const isPossible = (await takesParts(ports, intent)) && (await funds.canLend());
  return isPossible ? escrows.authorization(intent) : null;
}

async function checkHolds(ports: FlightsPorts, tiers: Tiers, intent: IntentRow): Promise<void> {
  if (isLowcost(intent.offer_id)) {
    const { checkLowcostHolds } = await loadLowcostOffers();
    return checkLowcostHolds({ ...ports, ...tiers }, intent);
  }
  return checkPriceHolds(configured(tiers.provider), intent, ports.clock.now());
}

/** Records a booking for its payment. The row is also the lock: each intent has only one. */
async function record(
  ports: FlightsPorts,
  request: BookRequest,
  { intent_id: intentId, sale_key: saleKey }: IntentRow,
  payment: Payment,
): Promise<BookingRow> {
  const { store, clock, secrets, options } = ports;
  let row: BookingRow | undefined;
  const insert = (on: Store) => {
    const nowMs = clock.now();
    const begun = {
      intent_id: intentId,
      state: 'settling',
      payment_key: payment.key,
      passengers_sealed: sealPassengers(secrets, intentId, request.passengers),
      due_at_ms: nowMs + options.settlingGraceMs,
    } as const;
    // A retired intent already has a booking row, so nothing is inserted.
    return beginBooking(on, 'payment', begun, nowMs);
  };
  await holdOrDrop<BookingRow>({
    async insertUnlessHeld() {
      row =
        saleKey === null
          ? await insert(store)
          : await inTurn(store, [`sales:${saleKey}`], async (tx) => {
              const begun = await insert(tx);
              // Two intents that are paid at the same moment have both passed the first check.
              if (begun) await checkUnsold(tx, saleKey, intentId);
              return begun;
            });
      if (row) return null;
      const holder = await bookingOf(store, intentId);
      if (holder?.payment_key !== payment.key) return holder ?? null;
      row = holder;
      return null;
    },
    async dropUnpaid(holder) {
      if (holder.state !== 'settling') return false;
      if ((await ports.paywall.outcome(holder.payment_key)) !== 'failed') return false;
      await dropUnpaid(ports, holder);
      return true;
    },
    refusal: async (holder) => heldBy(holder, await shownIntent(store, intentId)),
  });
  if (!row) throw new Error('a recorded booking is gone');
  return row;
}

/** Refuses an intent that can't be booked. A booking that is only `settling` may be this very payment, sent again. */
function checkBookable(intent: IntentRow, booking: Standing | undefined, nowMs: number): void {
  if (intent.status === 'refunded') throw problem('intent_not_active', { detail: { status: intent.status } });
  if (booking && booking.state !== 'settling') throw heldBy(booking, intent);
  if (intent.status !== 'active') throw problem('booking_already_requested');
  if (intent.expires_at_ms <= nowMs) throw expired(intent);
}

type Standing = Pick<BookingRow, 'state' | 'refund_reason'>;

const heldBy = (booking: Standing, intent: IntentRow) =>
  booking.refund_reason === 'intent_expired' ? expired(intent) : problem('booking_already_requested');

const expired = (intent: IntentRow) =>
  problem('intent_expired', { detail: { expired_at: instant(intent.expires_at_ms) } });

async function checkTravellers({ provider, clock }: FlightsPorts, passengers: readonly Passenger[], intent: IntentRow) {
  const offer = lockedOffer(intent);
  const ours = await checkPassengers(passengers, {
    count: intent.passenger_count,
    departureDate: offer.departing_at.slice(0, 10),
    ages: agesOf(offer),
    documentsRequired: offer.identity_documents_required,
    today: instant(clock.now()).slice(0, 10),
  });
  // The airline's rules apply to passengers that pass ours.
  const issues =
    ours.length > 0 || isLowcost(intent.offer_id) ? ours : (provider?.passengerIssues?.(passengers, offer) ?? []);
  const [first] = issues;
  if (!first) return;
  throw problem(first.code, {
    detail: {
      issues: issues.map(({ path, message }) => ({ path, message })),
      ...(first.code === 'passenger_count_mismatch'
        ? { expected: intent.passenger_count, received: passengers.length }
        : {}),
    },
  });
}
