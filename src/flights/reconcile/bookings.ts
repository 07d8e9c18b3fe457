import type { ProviderOrder } from '../../airlines/index.ts';
import { type EffectKind, writeAttempt } from '../../effects/index.ts';
import { instant } from '../../kernel/clock.ts';
import { asInteger } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import {
  BY_SERVICE,
  bookingOf,
  changeIntent,
  DATABASE_BEHIND,
  type FlightsPorts,
  type IntentRow,
  type Tx,
  writeAudit,
} from '../base/index.ts';
import {
  askAirline,
  beginBooking,
  createStepRunner,
  type Escrows,
  isHeld,
  keepOrder,
  type Move,
  moveBooking,
  placeOf,
  planTasks,
  retire,
} from '../bookings/index.ts';
import { isLowcost } from '../offers/index.ts';
import { adoptedIntent } from './adopted.ts';
import { type Case, fundingOf } from './escrows.ts';
import type { EscrowAct, Finding, LandedPayment } from './types.ts';

/** A finding, and the function that acts on it, which is safe to repeat. */
export interface Item {
  readonly finding: Finding;
  carry(): Promise<void>;
}

export interface Tools {
  readonly ports: FlightsPorts;
  readonly escrows: Escrows;
  readonly sinceMs: number;
}

type FoundState = 'ordering' | 'capturing' | 'refunding';

/** Finds the difference of a case, or null. */
export async function itemOf(tools: Tools, one: Case): Promise<Item | null> {
  if (one.isUnused) return unusedItem(tools, one);
  if (one.intent) return knownItem(tools, one, one.intent);
  return one.account && one.order && isAlive(one) ? adoptedItem(tools, one) : unknownItem(tools, one);
}

const has = ({ acts }: Case, kind: EscrowAct['kind']): EscrowAct | undefined => acts.find((act) => act.kind === kind);

function knownItem(tools: Tools, one: Case, intent: IntentRow): Item | null {
  const { booking, account, held, order, acts } = one;
  const state = booking?.state ?? null;
  const isOver = state === 'booked' || state === 'refunded' || intent.status !== 'active';
  const item = (kind: Finding['kind'], to: FoundState | null, todo: string | null = null): Item => ({
    finding: {
      ...{ kind, subject: intent.intent_id, state, amount: BigInt(intent.amount) },
      transaction: acts.at(0)?.signature ?? null,
      outcome: todo !== null ? 'person' : to === null ? 'noted' : 'carried_on',
      todo,
    },
    carry: () => carryOn(tools, one, intent, to, kind),
  });
  const stuckShow = `farelock stuck show ${intent.intent_id}`;
  const captured = has(one, 'capture');
  if (captured && !isOver) {
    if (order || state === 'capturing') return item('captured', 'capturing');
    return item('captured', 'ordering', tools.ports.provider?.orders ? stuckShow : null);
  }
  if (captured && state === 'refunded') return item('captured', null, stuckShow);
  const refunded = has(one, 'refund') ?? (account === null && !isOver ? has(one, 'close_escrow') : undefined);
  if (refunded && !isOver) return item('refunded', 'refunding');
  if (refunded && state === 'booked' && takenOf(one) === null)
    return item('refunded', null, 'The ticket lives and its escrow went back: cancel it with the airline.');
  const isPaid = account?.state === 'open' && !isOver && held >= account.amount;
  // A carrier's web site can be asked only with the records of our visits, which a restored database lacks.
  const askSite = isLowcost(intent.offer_id) ? stuckShow : null;
  if (isPaid && booking === null) return item('booking_forgotten', 'ordering', askSite);
  const isUnordered = isPaid && (state === 'settling' || state === 'queued');
  if (isUnordered && (askSite !== null || (order && isOrdered(order))))
    return item('order_forgotten', 'ordering', askSite);
  return acts.length === 0 ? null : item('escrow_acts', null);
}

/** An escrow in addition to the one that counts: only its acts are recorded. */
const unusedItem = (tools: Tools, one: Case): Item => ({
  finding: {
    ...{ kind: 'escrow_acts', subject: one.intent?.intent_id ?? one.escrow, state: one.booking?.state ?? null },
    ...{ amount: null, transaction: one.acts.at(0)?.signature ?? null, outcome: 'noted', todo: null },
  },
  carry: () => keepUnknown(tools, one),
});

/**
 * The part that the treasury kept in a refund out of the escrow (atomic units), or null if there was no such refund. A
 * refund of the whole price is recognised by its dead order.
 */
export function takenOf(one: Case): bigint | null {
  const { account, intent, order } = one;
  const takes = has(one, 'capture')?.takes;
  if (takes !== undefined) return takes;
  if (account?.state === 'captured' && account.captured < account.amount) return account.captured;
  const isBack = has(one, 'refund') !== undefined || account?.state === 'refunded';
  return intent !== null && isHeld(intent) && order !== null && !isOrdered(order) && isBack ? 0n : null;
}

/** The acts of a case. A full refund of a held price counts as an attempt at its capture, as the service records it. */
const actsOf = (one: Case): readonly EscrowAct[] =>
  takenOf(one) === 0n
    ? one.acts.map((act) => (act.kind === 'refund' ? { ...act, kind: 'capture' as const, takes: 0n } : act))
    : one.acts;

const isOrdered = ({ status }: ProviderOrder): boolean => status !== 'cancelled' && status !== 'failed';

/** True if the order decides about its escrow, which is captured, or holds the price of a live order. */
const isAlive = ({ account, order, held }: Case): boolean =>
  account !== null &&
  order !== null &&
  (account.state === 'captured' || (account.state === 'open' && held >= account.amount && isOrdered(order)));

/** Rebuilds the intent from its escrow and order. It then goes on like one that the database knows. */
async function adoptedItem(tools: Tools, one: Case): Promise<Item> {
  const { account, order } = one;
  if (!account || !order) throw new Error('nothing to adopt');
  const paid = await fundingOf(tools.ports, account.vault, tools.sinceMs);
  const intent = adoptedIntent(tools.ports, account, order, paid);
  if (!intent) return unknownItem(tools, one);
  return {
    finding: {
      ...{ kind: 'order_adopted', subject: intent.intent_id, state: account.state, amount: account.amount },
      ...{ transaction: has(one, 'capture')?.signature ?? null, outcome: 'carried_on', todo: null },
    },
    carry: () =>
      carryOn(tools, one, intent, account.state === 'captured' ? 'capturing' : 'ordering', 'order_adopted', paid),
  };
}

/** Writes what the database lacks in one transaction, and takes the steps that follow. */
async function carryOn(
  tools: Tools,
  one: Case,
  intent: IntentRow,
  to: FoundState | null,
  kind: Finding['kind'],
  paid?: LandedPayment | null,
): Promise<void> {
  const { ports, escrows } = tools;
  const { store, clock } = ports;
  const { intent_id } = intent;
  const funding =
    paid === undefined && to !== null && one.booking === null && one.account
      ? await fundingOf(ports, one.account.vault, tools.sinceMs)
      : paid;
  const isLost = to === 'ordering' && isLowcost(intent.offer_id) && (await askAirline(ports, intent)) === 'none';
  await inTurn(store, [`intents:${intent_id}`], async (tx) => {
    if (one.intent === null) {
      await tx
        .insertInto('intents')
        .values(intent)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    await keepActs(ports, tx, intent_id, actsOf(one));
    if (to === 'capturing' && one.order) {
      await keepOrder(ports, intent, one.order, tx);
      await attempt(ports, tx, 'airline_order', intent_id, { state: 'done', result: one.order.providerOrderId });
    }
    // An attempt without outcome: the order is looked up by its reference first. A stuck one bars a second purchase.
    if (to === 'ordering') await attempt(ports, tx, 'airline_order', intent_id, { state: isLost ? 'stuck' : 'sent' });
    if (intent.escrow_kind === 'authorized') {
      // The authorization was paid instead of the opened escrow, which can be closed.
      await changeIntent(tx, intent_id, placeOf(intent));
      await planTasks(tx, intent_id, clock.now(), { unused_escrow: 0 });
    }
    if (to !== null) await move(ports, tx, one, intent, to, funding ?? null);
    const detail = { kind, transactions: one.acts.map(({ signature }) => signature) };
    await writeAudit(tx, ports, { ...BY_SERVICE, action: 'reconcile', subject: intent_id, detail });
  });
  // If the cluster or the airline is silent now, the worker finishes this later.
  if (to !== null) await createStepRunner(ports, escrows).carryOutNow(intent_id);
  ports.log('warn', 'reconciled', { intent_id, kind, at: instant(clock.now()) });
}

const attempt = (
  ports: FlightsPorts,
  tx: Tx,
  kind: EffectKind,
  subject: string,
  fields: { readonly state: 'sent' | 'stuck' | 'done'; readonly result?: string },
) => writeAttempt(tx, ports, kind, subject, { reference: subject, ...fields });

/** Records acts as done effects, so that a later attempt finds each by its transaction. */
export async function keepActs(
  ports: FlightsPorts,
  tx: Tx,
  subject: string,
  acts: readonly Pick<EscrowAct, 'kind' | 'signature' | 'takes'>[],
): Promise<void> {
  for (const { kind, signature, takes } of acts) {
    const done = { state: 'done', signature, reference: takes === undefined ? null : String(takes) } as const;
    const isFirst = kind !== 'sweep' && (await writeAttempt(tx, ports, kind, subject, done));
    // Without a live key: a sweep may repeat, and for another kind the live key is taken.
    if (!isFirst) await writeAttempt(tx, ports, kind, subject, { ...done, live_key: null });
  }
}

async function move(
  ports: FlightsPorts,
  tx: Tx,
  { account, order, held }: Case,
  intent: IntentRow,
  to: FoundState,
  funding: LandedPayment | null,
): Promise<void> {
  const nowMs = ports.clock.now();
  const { intent_id } = intent;
  const booking = (await bookingOf(tx, intent_id)) ?? null;
  // True unless a refunded escrow is known never to have held the price.
  const wasPaid = to !== 'refunding' || account?.neverFunded === false || held > 0n;
  await changeIntent(tx, intent_id, {
    ...(wasPaid && { observed_amount: intent.amount }),
    ...(wasPaid && { booking_requested_at_ms: intent.booking_requested_at_ms ?? funding?.atMs ?? nowMs }),
    // The time that the chain shows.
    ...(to === 'capturing' &&
      account &&
      account.captured === account.amount && { captured_at_ms: Number(account.endedAt) * 1000 }),
    ...(to === 'capturing' && { ticketed_at_ms: intent.ticketed_at_ms ?? order?.updatedAtMs ?? nowMs }),
    updated_at_ms: nowMs,
  });
  if (to === 'refunding' && booking === null) return retire(tx, intent, DATABASE_BEHIND, nowMs);
  const change: Move['change'] = {
    ...(order && { provider_order_id: order.providerOrderId }),
    ...(to === 'refunding' && { refund_reason: booking?.refund_reason ?? DATABASE_BEHIND }),
  };
  if (booking === null) {
    const key = funding?.key ?? `forgotten:${intent_id}`;
    const row = { intent_id, state: to, payment_key: key, passengers_sealed: '', refund_reason: null } as const;
    await beginBooking(tx, 'reconcile', { ...row, due_at_ms: nowMs, ...change }, nowMs);
  } else if (booking.state !== to) await moveBooking(tx, booking, { by: 'reconcile', to, change }, nowMs);
}

/** An escrow of an unknown intent: we can only give back what is left in it. */
function unknownItem(tools: Tools, one: Case): Item {
  const { account, held, order, acts, escrow } = one;
  const isPaid = account !== null && held >= account.amount;
  const base = {
    kind: 'escrow_unknown',
    subject: escrow,
    state: account?.state ?? 'closed',
    amount: account?.amount ?? null,
    transaction: acts.at(0)?.signature ?? null,
  } as const;
  const note = () => keepUnknown(tools, one);
  if (account === null || account.state === 'refunded' || (takenOf(one) ?? 0n) > 0n)
    return { finding: { ...base, outcome: 'noted', todo: null }, carry: note };
  if (account.state === 'captured') {
    const todo = `No order of it was found. Ask the airline about tickets of ${instant(Number(account.openedAt) * 1000)}; its refund wallet is ${account.refundOwner}.`;
    return { finding: { ...base, outcome: 'person', todo }, carry: note };
  }
  // A carrier's web site lists no orders, and a restored database lacks the purchases.
  const mayBeOrdered = isPaid && (!tools.ports.provider?.orders || tools.ports.lowcost != null || order !== null);
  if (mayBeOrdered) {
    const after = instant(Number(account.refundAfter) * 1000);
    const todo = `It may have a ticket: ask the airline or carrier. From ${after} its customer takes the money back with farelock wallet recover, by the intent's id.`;
    return { finding: { ...base, outcome: 'person', todo }, carry: note };
  }
  return { finding: { ...base, outcome: 'carried_on', todo: null }, carry: () => giveBack(tools, one) };
}

const keepUnknown = ({ ports }: Tools, { escrow, acts, account, intent }: Case): Promise<void> =>
  inTurn(ports.store, [], async (tx) => {
    await keepActs(ports, tx, escrow, acts);
    const detail = {
      kind: intent ? 'escrow_acts' : 'escrow_unknown',
      state: account?.state ?? 'closed',
      amount: String(account?.amount ?? ''),
    };
    await writeAudit(tx, ports, { ...BY_SERVICE, action: 'reconcile', subject: escrow, detail });
  });

/** Refunds an escrow to its refund owner, or closes an unpaid one to get its rent back. */
async function giveBack(tools: Tools, one: Case): Promise<void> {
  const { account } = one;
  if (!account) return;
  // The escrow's address is the subject of its effect, as the intent's id is unknown.
  const terms = {
    ...{ intent_id: account.address, escrow_address: account.address, vault_address: account.vault },
    escrow_kind: account.kind === 'intent' ? ('opened' as const) : ('authorized' as const),
    ...{
      mint: account.mint,
      program_id: account.programId,
      authority: account.authority,
      refund_wallet: account.refundOwner,
    },
    ...{ amount: asInteger(account.amount), refund_after_ms: Number(account.refundAfter) * 1000 },
  };
  await tools.escrows.refund(terms, undefined, { closes: true }).catch((error: unknown) => {
    // The effect is recorded, so the worker can finish it.
    if (!isProblem(error, 'not_final')) throw error;
  });
  await keepUnknown(tools, one);
}
