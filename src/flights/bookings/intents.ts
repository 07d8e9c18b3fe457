import type { Address } from '@solana/kit';
import { sql } from 'kysely';
import { loadAddress } from '../../escrow/index.ts';
import { asInteger } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { Answer, PaidCall, Payment } from '../../payments/index.ts';
import { regained } from '../../store/base/index.ts';
import { storeTrouble } from '../../store/index.ts';
import type { CreatedIntent, CreateIntentRequest, Intent } from '../../wire/flights/index.ts';
import type { Asked, FlightsPorts, IntentRow } from '../base/index.ts';
import {
  bookingOf,
  checkOpen,
  checkRefundWallet,
  checkWallet,
  createAttempts,
  intentRecord,
  latestRequest,
  orderOf,
  partsRefunded,
  referenceIn,
  rejectionReason,
  shownIntent,
  toTreasury,
  unlessSilent,
} from '../base/index.ts';
import { isLowcost, type OfferToLock, offerToLock, ticketTotal } from '../offers/index.ts';
import {
  abandon,
  activeKey,
  checkDay,
  checkLocks,
  creatingKey,
  finishCreation,
  type Holder,
  holdOrDrop,
  insertUnlessTaken,
  inTheWay,
  isShown,
  type Taken,
} from './creations.ts';
import { checkProgram, type Escrows } from './escrows.ts';
import type { Funds } from './funds.ts';
import { isCodeOf, supportCodeHmac } from './identity.ts';
import { shownPassengers } from './travellers.ts';

export interface IntentTools {
  readonly ports: FlightsPorts;
  readonly escrows: Escrows;
  readonly funds: Funds;
}

/**
 * GET /air/intents/{intent_id}. With the support code it also shows the travellers, the booking reference and the
 * reason for a rejection. A code is checked in every state.
 */
export async function showIntent(
  { ports, escrows }: IntentTools,
  intentId: string,
  code: string | null,
  client: string,
): Promise<Intent> {
  const { store, secrets } = ports;
  const row = await shownIntent(store, intentId);
  const isProven = code !== null && code.trim() !== '';
  if (isProven && !(await createAttempts(ports)({ intentId, client }, () => isCodeOf(secrets, row, code)))) {
    throw problem('support_code_mismatch', { message: 'The customer support code does not belong to this intent.' });
  }
  if (row.status === 'active') {
    return intentRecord(row, await observed(escrows, row), { booking: await bookingOf(store, intentId) });
  }
  const request = await latestRequest(store, intentId);
  const order = isProven || ports.provider?.changesSchedules ? await orderOf(store, intentId) : undefined;
  return intentRecord(row, row.observed_amount, {
    request,
    parts: row.passenger_count > 1 ? await partsRefunded(store, intentId) : [],
    travellers: isProven ? await shownPassengers(ports, row, request) : undefined,
    rejectionReason: isProven ? rejectionReason(secrets, request) : undefined,
    bookingReference: isProven && order ? referenceIn(order.document) : undefined,
    order,
  });
}

/** The vault's amount now, or the last one seen when the cluster doesn't answer. */
const observed = (escrows: Escrows, row: IntentRow): Promise<number | null> =>
  unlessSilent(escrows.held(row).then(asInteger), () => row.observed_amount);

/**
 * POST /air/intents (CONTRACT, section 2): check, verify, open the escrow, settle, show. The funding wallet must be the
 * payer, or a stranger could take its (wallet, offer) pair and name another refund wallet.
 */
export function createIntentCall(
  tools: IntentTools,
  { body: request, url, client }: Asked<CreateIntentRequest>,
): PaidCall {
  const { ports, escrows, funds } = tools;
  const { store, options } = ports;
  let live: OfferToLock | undefined;
  /** The intent that this very request wrote. */
  let held: IntentRow | undefined;
  const lookUp = async () => {
    live ??= await offerToLock(ports, request);
    return live;
  };
  return {
    resource: 'POST /air/intents',
    url,
    request,
    settle: 'before',
    async check({ payer }) {
      const { funding_wallet: funding, refund_wallet: refund } = request;
      if (funding !== undefined) await checkWallet('funding_wallet', funding);
      await checkOpen(ports, 'booking');
      const refundWallet = refund ?? funding;
      if (refundWallet !== undefined) await checkRefundWallet(ports, refundWallet);
      const wallet = funding ?? payer;
      const pair = wallet === null ? null : activeKey(wallet, request.offer_id);
      if (funding !== undefined) {
        const { holder, locks } = await inTheWay(store, ports, funding, pair);
        if (holder && isShown(holder) && holder.expires_at_ms > ports.clock.now()) throw alreadyExists(holder);
        checkLocks(ports, locks);
      }
      const found = await ports.checks.look({ client, payer }, (tiers) => offerToLock({ ...ports, ...tiers }, request));
      if (payer !== null) live = found ?? undefined;
      await checkProgram(ports);
      if (found) await checkDay(store, ports, ticketTotal(found.offer) ?? 0n, pair);
      await funds.check(found ? sellersPart(request, found) : 0n, payer !== null);
      return toTreasury(ports, options.intentPrice, 'Create a booking intent and open its escrow');
    },
    async prepare(payment) {
      if ((request.funding_wallet ?? payment.payer) !== payment.payer) {
        throw problem('funding_wallet_not_payer', { detail: { payer: payment.payer } });
      }
      const known = await byPayment(ports, payment);
      const row = known ?? (await holdPair(tools, request, payment, await lookUp()));
      held = known ? undefined : row;
      if (row.abandoned === 1) throw problem('escrow_initialization_failed');
      try {
        await escrows.open(row, { isNew: !known });
      } catch (error) {
        ports.log('error', 'escrow_not_opened', {
          intent_id: row.intent_id,
          error_code: isProblem(error) ? error.code : 'unexpected',
        });
        throw notOpened(error);
      }
    },
    perform: (payment) => reveal(ports, payment, held),
    async undo(payment) {
      const row = await byPayment(ports, payment);
      if (!row || !(await abandon(ports, row))) return;
      // At once, because the rent is tied up until then. The worker retries what fails here.
      const { createStepRunner } = await import('./steps.ts');
      await createStepRunner(ports, escrows).carryOutNow(row.intent_id);
    },
  };
}

/** Failures that may pass: another process may have the escrow's key. */
const MAY_PASS = ['cluster_failed', 'operator_key_unusable'] as const;

/** Only a refusal ends the payment. While the outcome is unknown, the same payment can go on from here. */
function notOpened(error: unknown): unknown {
  if (isProblem(error, 'not_final')) return problem('cluster_failed', { cause: error });
  const isUnknown = !isProblem(error) || isProblem(error, ...MAY_PASS) || storeTrouble(error) !== null;
  return isUnknown ? error : problem('escrow_initialization_failed', { cause: error });
}

const PLACE_POLL_MS = 100;
/** The pair, and the payer's one creation: a dead creation may hold either. */
const PLACES = 2;

type Held = Extract<Taken, { holder: Holder }>;

/** Takes the (wallet, offer) pair and the payer's one creation for this payment, unless others hold them. */
async function holdPair(
  { ports, escrows }: IntentTools,
  request: CreateIntentRequest,
  payment: Payment,
  offer: OfferToLock,
): Promise<IntentRow> {
  // The payer was unknown before the payment, and the wallet's account may have been closed since.
  await checkRefundWallet(ports, request.refund_wallet ?? payment.payer);
  await checkProgram(ports);
  const untilMs = ports.clock.now() + ports.options.creationWaitMs;
  let row: IntentRow | undefined;
  await holdOrDrop<Held>(
    {
      async insertUnlessHeld() {
        for (;;) {
          row = await newIntent(ports, escrows, request, payment, offer);
          const taken = await insertUnlessTaken(ports, row);
          if (taken?.by !== 'others') return taken;
          if (ports.clock.now() >= untilMs) throw problem('creations_busy', { retryAfter: 5 });
          await ports.clock.sleep(PLACE_POLL_MS);
        }
      },
      // A creation that died before it was paid must not hold the pair until it expires.
      dropUnpaid: async ({ holder }) => !isShown(holder) && (await finishCreation(ports, holder)) !== 'unknown',
      refusal: ({ by, holder }) =>
        by === 'pair' ? alreadyExists(holder) : problem('creation_under_way', { retryAfter: 2 }),
    },
    PLACES,
  );
  if (!row) throw new Error('an intent was held and is not there');
  return row;
}

/** Shows a paid intent with a new support code. A slow first run must not replace the code of a second one. */
async function reveal(ports: FlightsPorts, payment: Payment, held?: IntentRow): Promise<Answer> {
  const { store, ids, clock, secrets } = ports;
  const row = held ?? (await byPayment(ports, payment));
  if (!row || row.abandoned === 1) throw new Error('a paid intent was given up');
  const code = ids.supportCode();
  const nowMs = clock.now();
  // Need not wait for the disk: the answer with the code is written after it, and does.
  const shown = await regained(store)
    .updateTable('intents')
    .set({
      opened_at_ms: sql<number>`coalesce(opened_at_ms, ${nowMs})`,
      creating_key: null,
      support_code_hmac: supportCodeHmac(secrets, code),
      updated_at_ms: nowMs,
    })
    .where('intent_id', '=', row.intent_id)
    .where('support_code_hmac', '=', row.support_code_hmac)
    .where('abandoned', '=', 0)
    .returningAll()
    .executeTakeFirst();
  if (!shown) throw problem('payment_pending', { retryAfter: 1 });
  const body: CreatedIntent = { ...intentRecord(shown, 0), customer_support_code: code };
  return { status: 201, body };
}

/** The amount that the airline takes from the seller's balance for an offer; a carrier's web site takes none. */
const sellersPart = ({ offer_id: id }: CreateIntentRequest, { offer }: OfferToLock): bigint =>
  isLowcost(id) ? 0n : (ticketTotal(offer) ?? 0n);

const byPayment = ({ store }: FlightsPorts, payment: Payment) =>
  store.selectFrom('intents').selectAll().where('payment_key', '=', payment.key).executeTakeFirst();

const alreadyExists = (holder: Holder) => problem('intent_already_exists', { detail: { intent_id: holder.intent_id } });

const NOT_YET = {
  credited_at_ms: null,
  support_code_hmac: '',
  observed_amount: 0,
  opened_at_ms: null,
  abandoned: 0,
  order_id: null,
  booking_requested_at_ms: null,
  ticketed_at_ms: null,
  captured_at_ms: null,
  capture_tx_hash: null,
  refund_reason: null,
  refunded_at_ms: null,
  refund_tx_hash: null,
} as const;

/** Makes the row of a new intent, not shown yet and without a support code. */
async function newIntent(
  ports: FlightsPorts,
  escrows: Escrows,
  request: CreateIntentRequest,
  payment: Payment,
  { offer, passengerCount, saleKey, lockedBags, lockedSeats }: OfferToLock,
): Promise<IntentRow> {
  const { clock, ids, options } = ports;
  const refundWallet = request.refund_wallet ?? payment.payer;
  const nowMs = clock.now();
  const { refundCommitment } = await loadAddress();
  // The id commits to the refund owner, so that money that arrives after the close can still reach them.
  const intentId = ids.committed('int', (start) => refundCommitment(start, refundWallet as Address));
  const place = await escrows.place(intentId);
  const amount = ticketTotal(offer) ?? 0n;
  const fee = (amount * BigInt(options.feeBasisPoints)) / 10_000n;
  const affiliates = request.referrer === undefined ? null : await import('./affiliates.ts');
  const wallets = [payment.payer, refundWallet];
  const referral = await affiliates?.resolveReferrer(ports, request.referrer ?? '', wallets, fee, offer);
  const expiresAtMs = Math.min(Date.parse(offer.expires_at), nowMs + options.intentLifeMs);
  return {
    ...NOT_YET,
    intent_id: intentId,
    status: 'active',
    offer_id: request.offer_id,
    offer: JSON.stringify(offer),
    passenger_count: passengerCount,
    bags: lockedBags && JSON.stringify(lockedBags),
    seats: lockedSeats && JSON.stringify(lockedSeats),
    sale_key: saleKey ?? null,
    funding_wallet: payment.payer,
    refund_wallet: refundWallet,
    referrer: referral?.code ?? null,
    referrer_wallet: referral?.wallet ?? null,
    affiliate_amount: referral ? asInteger(referral.amount) : null,
    credit_due_at_ms: referral?.creditDueAtMs ?? null,
    escrow_kind: 'opened',
    escrow_address: place.address,
    vault_address: place.vault,
    mint: ports.mint,
    amount: asInteger(amount),
    program_id: place.programId,
    authority: ports.authority.address,
    refund_after_ms: Math.ceil((expiresAtMs + options.refundAfterMs) / 1000) * 1000,
    fee_amount: asInteger(fee),
    payment_key: payment.key,
    active_key: activeKey(payment.payer, request.offer_id),
    creating_key: creatingKey.payer(payment.payer),
    expires_at_ms: expiresAtMs,
    created_at_ms: nowMs,
    updated_at_ms: nowMs,
  };
}
