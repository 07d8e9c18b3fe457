import { asInteger } from '../kernel/money.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import type { Answer, PaidCall, Payment } from '../payments/terms.ts';
import { type Escrows, escrowNotOpened } from './escrows.ts';
import { supportCodeHmac } from './identity.ts';
import { intentRecord, reviewSinceMs, shownIntent } from './intent-record.ts';
import { offerToLock, ticketTotal } from './live-offer.ts';
import type { FlightsPorts } from './ports.ts';
import type { LiveOffer } from './providers/provider.ts';
import { retire } from './retire.ts';
import type { IntentRow } from './rows.ts';
import { checkBookingEnabled } from './switches.ts';
import { checkWallet } from './wallets.ts';
import type { CreatedIntent, CreateIntentRequest, Intent } from './wire.ts';

/** Booking intents: POST /air/intents and GET /air/intents/{intent_id}. */
export function createIntents(ports: FlightsPorts, escrows: Escrows) {
  const { store, clock, ids, secrets, options } = ports;

  /**
   * The paid creation (CONTRACT, section 2): check, verify, open the escrow, settle; shown once it is settled.
   * Problems: `invalid_wallet`, `offer_*`, `intent_already_exists`, `booking_disabled`, `provider_failed`,
   * `escrow_initialization_failed`.
   */
  function creation(request: CreateIntentRequest, url: string): PaidCall {
    const refundWallet = request.refund_wallet ?? request.funding_wallet;
    const activeKey = `active:${request.funding_wallet}:${request.offer_id}`;
    let live: LiveOffer | undefined;
    const lookUp = async () => {
      live ??= await offerToLock(ports, request.offer_id);
      return live;
    };
    return {
      resource: 'POST /air/intents',
      url,
      request,
      settle: 'before',
      async check() {
        await checkWallet('funding_wallet', request.funding_wallet);
        await checkWallet('refund_wallet', refundWallet);
        await checkBookingEnabled(ports);
        const holder = await holderOf(activeKey);
        if (holder && isShown(holder) && holder.expires_at_ms > clock.now()) throw alreadyExists(holder);
        await lookUp();
        return {
          amount: options.intentPrice,
          payTo: ports.treasury,
          asset: ports.mint,
          description: 'Create a booking intent and open its escrow',
        };
      },
      async prepare(payment) {
        const row = (await byPayment(payment)) ?? (await claimPair(payment, await lookUp()));
        if (row.abandoned === 1) throw problem('escrow_initialization_failed');
        try {
          await escrows.open(row);
        } catch (error) {
          ports.log('error', 'escrow_not_opened', {
            intent_id: row.intent_id,
            error_code: isProblem(error) ? error.code : 'unexpected',
          });
          throw isProblem(error) ? escrowNotOpened(error) : error;
        }
      },
      perform: reveal,
      async undo(payment) {
        const row = await byPayment(payment);
        if (row && !isShown(row)) await abandon(row);
      },
    };

    /** Takes the (wallet, offer) pair for this payment, or says who has it. */
    async function claimPair(payment: Payment, offer: LiveOffer): Promise<IntentRow> {
      for (let round = 0; ; round++) {
        const row = await newRow(request, refundWallet, activeKey, payment, offer);
        const holder = await insertUnlessHeld(row);
        if (!holder) return row;
        // A creation that died before it was paid must not hold the pair until it expires.
        if (isShown(holder) || round > 1 || (await finishCreation(holder)) === 'unknown') {
          throw alreadyExists(holder);
        }
      }
    }
  }

  const holderOf = (activeKey: string) =>
    store.selectFrom('intents').selectAll().where('active_key', '=', activeKey).executeTakeFirst();

  const byPayment = (payment: Payment) =>
    store.selectFrom('intents').selectAll().where('payment_key', '=', payment.key).executeTakeFirst();

  /** Writes the row; answers with the intent that has the pair when there is one. An expired one gives way. */
  const insertUnlessHeld = (row: IntentRow): Promise<IntentRow | null> =>
    store.transaction().execute(async (tx) => {
      const holder = await tx
        .selectFrom('intents')
        .selectAll()
        .where('active_key', '=', row.active_key)
        .executeTakeFirst();
      if (holder && (!isShown(holder) || holder.expires_at_ms > clock.now())) return holder;
      if (holder) await retire(tx, holder, 'intent_expired', clock.now());
      await tx.insertInto('intents').values(row).execute();
      return null;
    });

  const abandon = (row: IntentRow) =>
    store.transaction().execute(async (tx) => {
      const fresh = await tx
        .selectFrom('intents')
        .selectAll()
        .where('intent_id', '=', row.intent_id)
        .executeTakeFirst();
      if (fresh && !isShown(fresh)) await retire(tx, fresh, 'creation_unpaid', clock.now());
    });

  /**
   * Decides about a creation whose request died: a paid one is shown (its customer gets the code by sending the same
   * payment again), an unpaid one is given up and its escrow closed.
   */
  async function finishCreation(row: IntentRow): Promise<'settled' | 'failed' | 'unknown'> {
    const outcome = await ports.paywall.outcome(row.payment_key ?? '');
    if (outcome === 'failed') await abandon(row);
    if (outcome === 'settled') {
      await store
        .updateTable('intents')
        .set({ opened_at_ms: clock.now(), updated_at_ms: clock.now() })
        .where('intent_id', '=', row.intent_id)
        .where('opened_at_ms', 'is', null)
        .where('abandoned', '=', 0)
        .execute();
    }
    return outcome;
  }

  async function newRow(
    request: CreateIntentRequest,
    refundWallet: string,
    activeKey: string,
    payment: Payment,
    { offer, passengerCount }: LiveOffer,
  ): Promise<IntentRow> {
    const nowMs = clock.now();
    const intentId = ids.next('int');
    const place = await escrows.place(intentId);
    const amount = ticketTotal(offer) ?? 0n;
    const fee = (amount * BigInt(options.feeBasisPoints)) / 10_000n;
    const referral =
      request.referrer === undefined
        ? null
        : await referred(request.referrer, request, refundWallet, fee, offer);
    const expiresAtMs = Math.min(Date.parse(offer.expires_at), nowMs + options.intentLifeMs);
    return {
      intent_id: intentId,
      status: 'active',
      offer_id: request.offer_id,
      offer: JSON.stringify(offer),
      passenger_count: passengerCount,
      funding_wallet: request.funding_wallet,
      refund_wallet: refundWallet,
      referrer: referral?.code ?? null,
      referrer_wallet: referral?.wallet ?? null,
      affiliate_amount: referral ? asInteger(referral.amount) : null,
      credit_due_at_ms: referral?.creditDueAtMs ?? null,
      credited_at_ms: null,
      support_code_hmac: '',
      escrow_address: place.address,
      vault_address: place.vault,
      mint: ports.mint,
      amount: asInteger(amount),
      program_id: place.programId,
      refund_after_ms: Math.ceil((expiresAtMs + options.refundAfterMs) / 1000) * 1000,
      fee_amount: asInteger(fee),
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
      payment_key: payment.key,
      active_key: activeKey,
      expires_at_ms: expiresAtMs,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    };
  }

  /** Loaded for an intent that names a code alone. */
  async function referred(
    code: string,
    request: CreateIntentRequest,
    refundWallet: string,
    fee: bigint,
    offer: LiveOffer['offer'],
  ) {
    const { resolveReferrer } = await import('./affiliates.ts');
    const { journeyEndMs } = await import('./journey-end.ts');
    const referral = await resolveReferrer(ports, code, [request.funding_wallet, refundWallet], fee);
    return referral && { ...referral, creditDueAtMs: journeyEndMs(offer.slices) };
  }

  /**
   * Shows the paid intent and makes its support code. Runs again when the answer was lost before it was kept: the
   * code is then a new one, for nobody has seen the old. The comparison with the code that was read keeps a slow
   * first run from replacing the code that a second one gave out.
   */
  async function reveal(payment: Payment): Promise<Answer> {
    const row = await byPayment(payment);
    if (!row || row.abandoned === 1) throw new Error('a paid intent was given up');
    const code = ids.supportCode();
    const nowMs = clock.now();
    const shown = await store
      .updateTable('intents')
      .set({
        opened_at_ms: row.opened_at_ms ?? nowMs,
        support_code_hmac: supportCodeHmac(secrets, code),
        updated_at_ms: nowMs,
      })
      .where('intent_id', '=', row.intent_id)
      .where('support_code_hmac', '=', row.support_code_hmac)
      .returningAll()
      .executeTakeFirst();
    if (!shown) throw problem('payment_pending', { retryAfter: 1 });
    const body: CreatedIntent = { ...intentRecord(shown, 0), customer_support_code: code };
    return { status: 201, body };
  }

  return {
    creation,
    finishCreation,

    /** @throws Problem `intent_not_found` */
    async show(intentId: string): Promise<Intent> {
      const row = await shownIntent(store, intentId);
      if (row.status !== 'active') return intentRecord(row, row.observed_amount);
      return intentRecord(row, await observed(row), await reviewSinceMs(store, intentId));
    },
  };

  /** What the vault holds now; what it was seen to hold last when the cluster doesn't answer. */
  async function observed(row: IntentRow): Promise<number | null> {
    try {
      return asInteger(await escrows.held(row));
    } catch (error) {
      if (!isProblem(error, 'cluster_failed')) throw error;
      return row.observed_amount;
    }
  }
}

export type Intents = ReturnType<typeof createIntents>;

const isShown = (row: IntentRow): boolean => row.opened_at_ms !== null && row.abandoned === 0;

const alreadyExists = (holder: IntentRow) =>
  problem('intent_already_exists', { detail: { intent_id: holder.intent_id } });
