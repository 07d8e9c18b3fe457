import type { Address } from '@solana/kit';
import { asInteger } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { Answer, PaidCall, Payment } from '../../payments/terms.ts';
import { type Escrows, escrowNotOpened } from '../booking/escrows.ts';
import { checkBookingEnabled } from '../desk/switches.ts';
import { offerToLock, ticketTotal } from '../offers/live-offer.ts';
import type { FlightsPorts } from '../ports.ts';
import type { LiveOffer } from '../providers/provider.ts';
import type { IntentRow } from '../rows.ts';
import type { CreatedIntent, CreateIntentRequest, Intent } from '../wire.ts';
import { creatingKey, creationsBusy, creationUnderWay, type Taken, takenBy } from './creations.ts';
import type { Funds } from './funds.ts';
import { supportCodeHmac } from './identity.ts';
import { intentRecord, refundRequestOf, reviewSinceMs, shownIntent } from './intent-record.ts';
import { retire } from './retire.ts';
import { checkRefundWallet, checkWallet } from './wallets.ts';

/** How often a creation looks for a place while too many are under way. */
const PLACE_POLL_MS = 100;

/** Booking intents: POST /air/intents and GET /air/intents/{intent_id}. */
export function createIntents(ports: FlightsPorts, escrows: Escrows, funds: Funds) {
  const { store, clock, ids, secrets, options } = ports;

  /**
   * The paid creation (CONTRACT, section 2): check, verify, open the escrow, settle; shown once it is settled. The
   * funding wallet is the payer: anybody else could take his (wallet, offer) pair and name a refund wallet of their own.
   * Problems: `invalid_wallet`, `funding_wallet_not_payer`, `refund_wallet_*`, `offer_*`, `intent_already_exists`,
   * `booking_disabled`, `operator_funds_low`, `provider_failed`, `creation_under_way`, `creations_busy`,
   * `escrow_initialization_failed`.
   */
  function creation(request: CreateIntentRequest, url: string, client: string): PaidCall {
    const activeKey = (wallet: string) => `active:${wallet}:${request.offer_id}`;
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
      async check({ payer }) {
        const { funding_wallet: funding, refund_wallet: refund } = request;
        if (funding !== undefined) await checkWallet('funding_wallet', funding);
        await checkBookingEnabled(ports);
        const refundWallet = refund ?? funding;
        if (refundWallet !== undefined) await checkRefundWallet(ports, refundWallet);
        const holder = funding === undefined ? undefined : await holderOf(activeKey(funding));
        if (holder && isShown(holder) && holder.expires_at_ms > clock.now()) throw alreadyExists(holder);
        const found = await ports.checks.look({ client, payer }, (tiers) =>
          offerToLock({ ...ports, ...tiers }, request.offer_id),
        );
        if (payer !== null) live = found ?? undefined;
        await funds.check();
        return {
          amount: options.intentPrice,
          payTo: ports.treasury,
          asset: ports.mint,
          description: 'Create a booking intent and open its escrow',
        };
      },
      async prepare(payment) {
        if ((request.funding_wallet ?? payment.payer) !== payment.payer) {
          throw problem('funding_wallet_not_payer', { detail: { payer: payment.payer } });
        }
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
        if (!row || !(await abandon(row))) return;
        // At once, rather than when the worker comes to it: until then the rent is tied up. What fails here, it does.
        const { createClaims } = await import('../booking/claims.ts');
        const { createStepRunner } = await import('../booking/step-runner.ts');
        await createStepRunner(ports, escrows, createClaims(ports)).carryOutNow(row.intent_id);
      },
    };

    /** Takes the (wallet, offer) pair and the payer's one creation for this payment, or says who has them. */
    async function claimPair(payment: Payment, offer: LiveOffer): Promise<IntentRow> {
      const refundWallet = request.refund_wallet ?? payment.payer;
      // Before the payment nobody knew the payer, and the wallet's account may have been closed since.
      await checkRefundWallet(ports, refundWallet);
      await funds.check();
      const untilMs = clock.now() + options.creationWaitMs;
      for (let round = 0; ; ) {
        const row = await newRow(request, refundWallet, activeKey(payment.payer), payment, offer);
        const taken = await insertUnlessTaken(row);
        if (!taken) return row;
        if (taken.by === 'others') {
          if (clock.now() >= untilMs) throw creationsBusy();
          await clock.sleep(PLACE_POLL_MS);
          continue;
        }
        // A creation that died before it was paid must not hold the pair until it expires.
        const { holder } = taken;
        if (isShown(holder) || ++round > 2 || (await finishCreation(holder)) === 'unknown') {
          throw taken.by === 'pair' ? alreadyExists(holder) : creationUnderWay();
        }
      }
    }
  }

  const holderOf = (activeKey: string) =>
    store.selectFrom('intents').selectAll().where('active_key', '=', activeKey).executeTakeFirst();

  const byPayment = (payment: Payment) =>
    store.selectFrom('intents').selectAll().where('payment_key', '=', payment.key).executeTakeFirst();

  /** Writes the row, unless something is in its way. An expired intent gives way to it. */
  const insertUnlessTaken = (row: IntentRow): Promise<Taken | null> =>
    store.transaction().execute(async (tx) => {
      const holder = await tx
        .selectFrom('intents')
        .selectAll()
        .where('active_key', '=', row.active_key)
        .executeTakeFirst();
      if (holder && (!isShown(holder) || holder.expires_at_ms > clock.now())) return { by: 'pair', holder };
      const taken = await takenBy(tx, row, options.mostUnpaidCreations);
      if (taken) return taken;
      if (holder) await retire(tx, holder, 'intent_expired', clock.now());
      await tx.insertInto('intents').values(row).execute();
      return null;
    });

  /** Gives up a creation that is certain never to be paid; false when it was shown, or given up before. */
  const abandon = (row: IntentRow): Promise<boolean> =>
    store.transaction().execute(async (tx) => {
      const fresh = await tx
        .selectFrom('intents')
        .selectAll()
        .where('intent_id', '=', row.intent_id)
        .executeTakeFirst();
      if (!fresh || fresh.opened_at_ms !== null || fresh.abandoned === 1) return false;
      await retire(tx, fresh, 'creation_unpaid', clock.now());
      return true;
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
        .set({ opened_at_ms: clock.now(), creating_key: null, updated_at_ms: clock.now() })
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
    const { refundCommitment } = await import('../../escrow/commitment.ts');
    // The id names the refund owner, so that money which comes after the escrow was closed still reaches him.
    const intentId = ids.committed('int', (start) => refundCommitment(start, refundWallet as Address));
    const place = await escrows.place(intentId);
    const amount = ticketTotal(offer) ?? 0n;
    const fee = (amount * BigInt(options.feeBasisPoints)) / 10_000n;
    const referral =
      request.referrer === undefined
        ? null
        : await referred(request.referrer, [payment.payer, refundWallet], fee, offer);
    const expiresAtMs = Math.min(Date.parse(offer.expires_at), nowMs + options.intentLifeMs);
    return {
      intent_id: intentId,
      status: 'active',
      offer_id: request.offer_id,
      offer: JSON.stringify(offer),
      passenger_count: passengerCount,
      funding_wallet: payment.payer,
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
      creating_key: creatingKey.payer(payment.payer),
      expires_at_ms: expiresAtMs,
      created_at_ms: nowMs,
      updated_at_ms: nowMs,
    };
  }

  /** Loaded for an intent that names a code alone. */
  async function referred(code: string, wallets: readonly string[], fee: bigint, offer: LiveOffer['offer']) {
    const { resolveReferrer } = await import('../affiliates/affiliates.ts');
    const { journeyEndMs } = await import('./journey-end.ts');
    const referral = await resolveReferrer(ports, code, wallets, fee);
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
        creating_key: null,
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
      if (row.status === 'active') {
        return intentRecord(row, await observed(row), {
          reviewSinceMs: await reviewSinceMs(store, intentId),
        });
      }
      const refundRequest = await refundRequestOf(store, intentId);
      return intentRecord(row, row.observed_amount, { refundRequest });
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
