import type { Address } from '@solana/kit';
import { liveAttempt, writeAttempt } from '../../effects/index.ts';
import { stakeOf } from '../../kernel/domain/part-refunds.ts';
import { payoutMemo, payoutMemoWithId, subjectParts, subjectsOf } from '../../kernel/domain/payout-names.ts';
import { asInteger } from '../../kernel/money.ts';
import { associatedTokenAddress, tokenIn } from '../../solana/index.ts';
import { inTurn } from '../../store/base/index.ts';
import { BY_SERVICE, type FlightsPorts, intentOf, lockedOffer, orderOf, type Tx, writeAudit } from '../base/index.ts';
import { partLeaving } from '../bookings/index.ts';
import { loadRefundPayouts } from '../refunds/index.ts';
import { type Item, type Tools, takenOf } from './bookings.ts';
import { historySince, paymentInto, transactionsOf, withoutEffects, withoutPayments } from './chain.ts';
import type { Case } from './escrows.ts';
import type { ChainAct, Finding, LandedPayment, PayoutAct } from './types.ts';

/** Items of pay-outs that landed, by what each was for. @param adopted intents that the same run rebuilds */
export async function payoutItems(
  tools: Tools,
  acts: readonly ChainAct[],
  adopted: readonly string[],
): Promise<Item[]> {
  const payouts = acts.filter((act): act is PayoutAct => act.kind === 'payout');
  if (payouts.length === 0) return [];
  const subjects = await subjectsPaid(tools.ports, adopted);
  const affiliates = await affiliatesOf(tools.ports, payouts);
  return payouts.map((act) => {
    const subject = subjects.get(act.memo);
    if (subject?.startsWith('int_'))
      return refundItem(tools, act, subject, (tx) => paidOut(tools.ports, tx, subject, act));
    if (subject !== undefined) return affiliateItem(tools, act, subject, null);
    const affiliate = affiliates.get(act.account);
    if (affiliate) return affiliateItem(tools, act, tools.ports.ids.next('pay'), affiliate);
    return unknownItem(tools, act);
  });
}

/** Maps memos to subjects: sold bookings, for all travellers or some, and pay-outs to affiliates. */
async function subjectsPaid({ store }: FlightsPorts, adopted: readonly string[]) {
  const sold = await store
    .selectFrom('intents')
    .select(['intent_id', 'passenger_count'])
    .where((either) => either.or([either('status', '=', 'booked'), either('order_id', 'is not', null)]))
    .execute();
  const begun = await store
    .selectFrom('bookings')
    .innerJoin('intents', 'intents.intent_id', 'bookings.intent_id')
    .select(['intents.intent_id', 'passenger_count'])
    .where('state', '<>', 'refunded')
    .execute();
  const payouts = await store.selectFrom('affiliate_payouts').select('payout_id').execute();
  const ids = [
    ...[...sold, ...begun].flatMap(({ intent_id, passenger_count: count }) => subjectsOf(intent_id, count)),
    ...payouts.map(({ payout_id }) => payout_id),
    ...adopted,
  ];
  return new Map(ids.flatMap((id) => [payoutMemo(id), payoutMemoWithId(id)].map((memo) => [memo, id] as const)));
}

type Affiliate = { readonly code: string; readonly wallet: string };

/** Finds affiliates by the token accounts that were paid. */
async function affiliatesOf({ store, cluster }: FlightsPorts, payouts: readonly PayoutAct[]) {
  const accounts = payouts.map(({ account }) => account);
  const found = new Map<string, Affiliate>();
  for (const [place, account] of (await cluster.accounts(accounts)).entries()) {
    const owner = tokenIn(account)?.owner;
    const [paid] = accounts.slice(place, place + 1);
    if (!owner || !paid) continue;
    const row = await store
      .selectFrom('affiliates')
      .select(['code', 'wallet'])
      .where('wallet', '=', owner)
      .executeTakeFirst();
    if (row) found.set(paid, row);
  }
  return found;
}

/** Money that went back to a refund wallet. */
type Back = Pick<PayoutAct, 'amount' | 'atMs'> & { readonly signature: string | null };

const findingOf = (act: Back, kind: Finding['kind'], subject: string, todo: string | null = null): Finding => ({
  ...{ kind, subject, state: null, amount: act.amount, transaction: act.signature },
  ...{ outcome: todo === null ? 'carried_on' : 'person', todo },
});

const audited = (ports: FlightsPorts, tx: Tx, kind: Finding['kind'], subject: string, act: Back) =>
  writeAudit(tx, ports, {
    ...{ ...BY_SERVICE, action: 'reconcile', subject },
    detail: { kind, amount: String(act.amount), transaction: act.signature },
  });

const paidOut = (ports: FlightsPorts, tx: Tx, subject: string, { signature }: PayoutAct) =>
  writeAttempt(tx, ports, 'payout', subject, { state: 'done', signature });

/** Items of refunds out of an escrow, for intents that have not ended. They follow the items of their bookings. */
export const releaseItems = (tools: Tools, cases: readonly Case[], adopted: readonly string[]): Item[] =>
  cases.flatMap((one) => {
    const { intent, order, account, acts } = one;
    const taken = takenOf(one);
    const id = intent?.intent_id ?? order?.reference;
    const isBooked = intent ? intent.status === 'booked' || (intent.status === 'active' && order !== null) : false;
    if (taken === null || id === undefined || !(isBooked || adopted.includes(id))) return [];
    const act = acts.find(({ kind }) => kind === 'capture' || kind === 'refund');
    const back = {
      amount: BigInt(intent?.amount ?? account?.amount ?? 0) - taken,
      atMs: act?.atMs ?? Number(account?.endedAt ?? 0) * 1000,
      signature: act?.signature ?? null,
    };
    const keep = async (tx: Tx) => {
      const done = { state: 'done', signature: back.signature, reference: String(taken) } as const;
      if (act) await writeAttempt(tx, tools.ports, 'capture', id, done);
    };
    return [refundItem(tools, back, id, keep)];
  });

function refundItem(tools: Tools, act: Back, subject: string, keep: (tx: Tx) => Promise<unknown>): Item {
  const { ports } = tools;
  const { intentId } = subjectParts(subject);
  return {
    finding: findingOf(act, 'refund_paid', intentId),
    async carry() {
      const turns = [...new Set([`intents:${intentId}`, `intents:${subject}`])];
      const requestId = await inTurn(ports.store, turns, async (tx) => {
        const granted = await grant(ports, tx, subject, act);
        await keep(tx);
        await audited(ports, tx, 'refund_paid', intentId, act);
        return granted;
      });
      if (requestId === null) return;
      const { createRefundPayouts } = await loadRefundPayouts();
      await createRefundPayouts(ports).carryOutNow(requestId);
    },
  };
}

/** Restores the request to approved, with its ticket cancelled. @returns its id, or null if there is nothing to end */
async function grant(ports: FlightsPorts, tx: Tx, subject: string, act: Back): Promise<string | null> {
  const { intentId, passengers } = subjectParts(subject);
  const intent = await intentOf(tx, intentId);
  if (intent.status !== 'booked') return null;
  const nowMs = ports.clock.now();
  const order = await orderOf(tx, intentId);
  if (order && !(await liveAttempt(tx, 'airline_cancel', subject))) {
    const made = { state: 'done', reference: order.provider_order_id, result: order.provider_order_id } as const;
    await writeAttempt(tx, ports, 'airline_cancel', subject, made);
  }
  const part = await partLeaving(tx, ports.secrets, intent, passengers);
  const approved = {
    state: 'approved',
    passengers: part && JSON.stringify(part),
    ...{ decided_by_name: BY_SERVICE.operator.name, decided_at_ms: act.atMs },
    ...{
      payout_amount: asInteger(act.amount),
      penalty_amount: asInteger(stakeOf(part, BigInt(intent.amount)) - act.amount),
    },
    ...{ due_at_ms: nowMs, lease_until_ms: 0, attempts: 0, last_error: null, updated_at_ms: nowMs },
  } as const;
  const open = await tx
    .updateTable('refund_requests')
    .set((column) => ({ ...approved, fence: column('fence', '+', 1) }))
    .where('open_key', '=', intentId)
    .returning('request_id')
    .executeTakeFirst();
  if (open) return open.request_id;
  const requestId = ports.ids.next('ref');
  await tx
    .insertInto('refund_requests')
    .values({
      ...approved,
      ...{ request_id: requestId, intent_id: intentId, open_key: intentId, reason_sealed: '' },
      payment_key: `forgotten:${act.signature ?? intentId}`,
      journey_date: lockedOffer(intent).departing_at.slice(0, 10),
      requested_at_ms: act.atMs,
    })
    .execute();
  return requestId;
}

/** @param affiliate null if the pay-out is known: its own step then finds the transaction */
function affiliateItem({ ports }: Tools, act: PayoutAct, payoutId: string, affiliate: Affiliate | null): Item {
  return {
    finding: findingOf(act, 'affiliate_paid', affiliate?.wallet ?? payoutId),
    carry: () =>
      inTurn(ports.store, [`affiliates:${affiliate?.code ?? payoutId}`], async (tx) => {
        if (affiliate) {
          // Journeys that are credited again find their balance already paid.
          await tx
            .insertInto('affiliate_payouts')
            .values({
              ...{ payout_id: payoutId, code: affiliate.code, wallet: affiliate.wallet, amount: asInteger(act.amount) },
              ...{ state: 'paid', signature: act.signature, attempts: 0, last_error: null },
              ...{ due_at_ms: act.atMs, created_at_ms: act.atMs, paid_at_ms: act.atMs },
            })
            .execute();
        }
        await paidOut(ports, tx, payoutId, act);
        await audited(ports, tx, 'affiliate_paid', payoutId, act);
      }),
  };
}

function unknownItem({ ports }: Tools, act: PayoutAct): Item {
  const todo = 'It paid back a journey that is unknown here: keep it for the books.';
  return {
    finding: findingOf(act, 'payout_unknown', act.memo, todo),
    carry: () =>
      inTurn(ports.store, [], async (tx) => {
        await paidOut(ports, tx, act.memo, act);
        await audited(ports, tx, 'payout_unknown', act.memo, act);
      }),
  };
}

/** Items of payments to the treasury that landed, but that the journal lacks. */
export async function paymentItems({ ports, sinceMs }: Tools): Promise<Item[]> {
  const account = await associatedTokenAddress(ports.treasury, ports.mint);
  const all = await historySince(ports, account, sinceMs);
  const unknown = await withoutPayments(ports, await withoutEffects(ports, all));
  const landed = (await transactionsOf(ports, unknown)).flatMap((one) => paymentInto(account, one) ?? []);
  return Promise.all(landed.map((payment) => paymentItem(ports, account, payment)));
}

/** A lost creation can't be answered. Its escrow is a case of its own. */
const UNANSWERABLE = 'POST /air/intents';

async function paymentItem(ports: FlightsPorts, account: Address, payment: LandedPayment): Promise<Item> {
  const { store, clock, treasury, cluster } = ports;
  const { key, payer, memo, amount, signature, atMs } = payment;
  const quote = await store.selectFrom('quotes').selectAll().where('memo', '=', memo).executeTakeFirst();
  const isAnswerable = quote !== undefined && quote.resource !== UNANSWERABLE;
  const settled = { success: true, payer, transaction: signature, network: cluster.network, amount: String(amount) };
  return {
    finding: {
      ...{ kind: 'payment_unknown', subject: payer, state: quote?.resource ?? null, amount, transaction: signature },
      ...(isAnswerable
        ? { outcome: 'carried_on', todo: null }
        : { outcome: 'noted', todo: 'If its payer had no answer, send it back by hand.' }),
    },
    carry: () =>
      inTurn(store, [], async (tx) => {
        await tx
          .insertInto('settlements')
          .values({
            ...{ payment_key: key, payer, amount: asInteger(amount), pay_to: treasury, signature },
            quote_id: quote?.quote_id ?? `forgotten:${memo}`,
            // If its request is known, the same payment is answered when it is sent again.
            ...{ request_digest: quote?.request_digest ?? '', state: isAnswerable ? 'settled' : 'answered' },
            ...{ transaction: null, last_valid_block_height: null, settle_response: JSON.stringify(settled) },
            ...{ answer_status: null, answer_sealed: null, answer_fence: null, error_code: null },
            ...{ lease_until_ms: 0, created_at_ms: atMs, updated_at_ms: clock.now() },
          })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        const detail = { kind: 'payment_unknown', amount: String(amount), transaction: signature, account };
        await writeAudit(tx, ports, { ...BY_SERVICE, action: 'reconcile', subject: payer, detail });
      }),
  };
}
