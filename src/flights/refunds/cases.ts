import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { partRuleOf, stakeOf } from '../../kernel/domain/part-refunds.ts';
import { isFound, searchable } from '../../kernel/domain/refund-search.ts';
import { problem } from '../../kernel/problems.ts';
import type { QueueQuery, RefundCase, RefundCaseSummary, RefundQueue } from '../../wire/flights/index.ts';
import type { FlightsPorts, IntentRow, KeptOrder, RefundRequestRow, RefundRequestState, Store } from '../base/index.ts';
import {
  decisionPlace,
  instantOrNull,
  intentOf,
  lockedOffer,
  orderOf,
  partOf,
  referenceIn,
  subjectOf,
} from '../base/index.ts';
import type { CancelledBy } from '../bookings/index.ts';
import { agreementOf, quoteOf } from './airline-quote.ts';
import { contactPlace, notePlace, reasonPlace } from './states.ts';

const SHOWN: readonly RefundRequestState[] = ['received', 'approved', 'refunded', 'rejected', 'stuck'];

/** Conditions that repeat those of their partial indexes. */
const IS_DECIDED = sql<SqlBool>`state in ('refunded', 'rejected')`;
export const IS_GRANTED = sql<SqlBool>`state in ('approved', 'stuck')`;
const IS_UNDECIDED = sql<SqlBool>`state in ('received', 'approved', 'stuck')`;

const numberOrNull = (amount: bigint | null): number | null => (amount === null ? null : Number(amount));

export const SUMMARISED = [
  'request_id',
  'intent_id',
  'passengers',
  'state',
  'requested_at_ms',
  'journey_date',
  'payout_amount',
  'claimed_by_name',
  'claimed_at_ms',
] as const satisfies readonly (keyof RefundRequestRow)[];
type SummarisedRequest = Pick<RefundRequestRow, (typeof SUMMARISED)[number]>;

export interface OpenedCase {
  readonly row: RefundRequestRow;
  readonly intent: IntentRow;
}

/** Opens a case by request id, or an intent's latest request. @throws Problem `refund_request_not_found` */
export async function openCase({ store }: FlightsPorts, id: string): Promise<OpenedCase> {
  const row = await store
    .selectFrom('refund_requests')
    .selectAll()
    .where(id.startsWith('ref_') ? 'request_id' : 'intent_id', '=', id)
    .where('state', 'in', SHOWN)
    .orderBy('requested_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) throw problem('refund_request_not_found');
  return { row, intent: await intentOf(store, row.intent_id) };
}

function indexedBy(status: QueueQuery['status']): RawBuilder<SqlBool> {
  if (status === 'refunded' || status === 'rejected') return IS_DECIDED;
  return status === 'approved' || status === 'stuck' ? IS_GRANTED : IS_UNDECIDED;
}

/** How many requests one page of a search scans: their sealed words have no index. */
const LOOKED_THROUGH = 500;

/**
 * Lists the queue, oldest first or by departure day. Without a status it lists undecided requests.
 * `looked` is the number of requests that a search scanned.
 */
export async function caseQueue(
  { store, secrets }: FlightsPorts,
  { status, sort, limit, cursor, search }: QueueQuery,
): Promise<Omit<RefundQueue, 'operator'> & { readonly looked: number }> {
  const key = sort === 'age' ? 'requested_at_ms' : 'journey_date';
  const first = sort === 'age' ? 0 : '';
  const [from, id] = cursor === undefined ? [first, ''] : readCursor(cursor);
  if (typeof from !== typeof first) throw badCursor();
  const most = search === undefined ? limit : LOOKED_THROUGH;
  const rows = await store
    .selectFrom('refund_requests')
    .select(SUMMARISED)
    .$if(search !== undefined, (query) => query.select('reason_sealed'))
    .where(indexedBy(status))
    .$if(status !== undefined, (query) => query.where('state', '=', status ?? 'received'))
    .where(sql<SqlBool>`(${sql.ref(key)}, request_id) > (${from}, ${id})`)
    .orderBy(key)
    .orderBy('request_id')
    .limit(most + 1)
    .execute();
  const looked = rows.slice(0, most);
  const wanted = searchable(search ?? '');
  const wordsOf = ({ request_id }: RefundCaseSummary, sealed: string | undefined): string =>
    sealed ? searchable(secrets.decrypt(reasonPlace(request_id), sealed)) : '';
  const found = (await summariesOf(store, looked)).filter(
    (one, at) =>
      search === undefined || isFound(one, wanted) || wordsOf(one, looked[at]?.reason_sealed).includes(wanted),
  );
  const shown = found.slice(0, limit);
  const lastId = found.length > limit ? shown.at(-1)?.request_id : looked.at(-1)?.request_id;
  const last = rows.find((row) => row.request_id === lastId);
  const isMore = found.length > limit || rows.length > most;
  return {
    refund_requests: shown,
    next_cursor:
      isMore && last ? Buffer.from(JSON.stringify([last[key], last.request_id])).toString('base64url') : null,
    total: status === undefined && search === undefined ? await countUndecided(store) : null,
    looked: looked.length,
  };
}

async function countUndecided(store: Store): Promise<number> {
  const { waiting } = await store
    .selectFrom('refund_requests')
    .select((on) => on.fn.countAll<number>().as('waiting'))
    .where(IS_UNDECIDED)
    .executeTakeFirstOrThrow();
  return Number(waiting);
}

export async function summariesOf(store: Store, rows: readonly SummarisedRequest[]): Promise<RefundCaseSummary[]> {
  if (rows.length === 0) return [];
  const intents = await store
    .selectFrom('intents')
    .leftJoin('orders', 'orders.intent_id', 'intents.intent_id')
    .select(['intents.intent_id', 'intents.offer', 'intents.amount', 'orders.cancelled_by', 'orders.document'])
    .where('intents.intent_id', 'in', [...new Set(rows.map((row) => row.intent_id))])
    .execute();
  const byId = new Map(intents.map((intent) => [intent.intent_id, intent]));
  return rows.map((row) => {
    const intent = byId.get(row.intent_id);
    if (!intent) throw new Error(`${row.request_id} has no intent`);
    return summaryOf(row, intent, intent.cancelled_by, referenceIn(intent.document));
  });
}

/** A whole case with the customer's words, for operators only. */
export async function showCase({ store, secrets }: FlightsPorts, opened: OpenedCase): Promise<RefundCase> {
  const { row, intent } = opened;
  const offer = lockedOffer(intent);
  const unsealed = (place: string, sealed: string | null) => (sealed ? secrets.decrypt(place, sealed) : null);
  const notes = await store
    .selectFrom('refund_notes')
    .selectAll()
    .where('request_id', '=', row.request_id)
    .orderBy('at_ms')
    .execute();
  const order = await orderOf(store, intent.intent_id);
  return {
    ...summaryOf(row, intent, order?.cancelled_by ?? null, referenceIn(order?.document)),
    order_id: intent.order_id,
    passenger_count: intent.passenger_count,
    refund_wallet: intent.refund_wallet,
    fare: {
      owner_name: offer.owner_name,
      fare_brand_name: offer.fare_brand_name,
      total_amount_decimal: offer.total_amount_decimal,
      total_currency: offer.total_currency,
      conditions: offer.conditions,
      ...(offer.passengers && { passengers: offer.passengers }),
    },
    reason: unsealed(reasonPlace(row.request_id), row.reason_sealed),
    contact: unsealed(contactPlace(row.request_id), row.contact_sealed),
    decision:
      row.decided_at_ms === null
        ? null
        : {
            by: row.decided_by_name ?? '',
            at: instant(row.decided_at_ms),
            words: unsealed(decisionPlace(row.request_id), row.decision_sealed),
            penalty_amount: row.penalty_amount,
            payout_amount: row.payout_amount,
            airline_quote: agreementOf(row)?.airline_quote ?? null,
          },
    payout_tx_hash: row.payout_tx_hash,
    airline_quote: quoteOf(row),
    last_error: row.last_error,
    notes: notes.map((note) => ({
      at: instant(note.at_ms),
      by: note.operator_name,
      text: unsealed(notePlace(note.note_id), note.text_sealed) ?? '',
    })),
    timeline: await timeline(store, opened, order),
  };
}

type Event = [atMs: number | null, event: string, detail: string | null];

async function timeline(store: Store, { row, intent }: OpenedCase, order: KeptOrder | undefined) {
  const effects = await store
    .selectFrom('effects')
    .select(['kind', 'state', 'signature', 'result', 'error', 'updated_at_ms'])
    .where('subject', 'in', [...new Set([intent.intent_id, subjectOf(row)])])
    .execute();
  const acts = await store
    .selectFrom('operator_audit')
    .select(['at_ms', 'operator_name', 'action'])
    .where('subject', '=', row.request_id)
    .where('action', '<>', 'refund.show')
    .execute();
  const change = order?.cancelled_by === 'airline' ? 'cancelled by the airline' : 'changed by the airline';
  const events: Event[] = [
    [intent.created_at_ms, 'intent created', null],
    [intent.booking_requested_at_ms, 'booking requested', null],
    [intent.ticketed_at_ms, 'ticketed', intent.order_id],
    [intent.captured_at_ms, 'captured', intent.capture_tx_hash],
    [order?.changed_at_ms ?? null, change, intent.order_id],
    [row.requested_at_ms, 'refund requested', null],
    [intent.refunded_at_ms, 'refunded', intent.refund_tx_hash],
    ...effects.map(
      (one): Event => [one.updated_at_ms, `effect ${one.kind} ${one.state}`, one.error ?? one.signature ?? one.result],
    ),
    ...acts.map((act): Event => [act.at_ms, act.action.replace('.', ' '), act.operator_name]),
  ];
  return events
    .flatMap(([atMs, event, detail]) => (atMs === null ? [] : [{ atMs, event, detail }]))
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, event, detail }) => ({ at: instant(atMs), event, detail }));
}

function summaryOf(
  row: SummarisedRequest,
  intent: Pick<IntentRow, 'offer' | 'amount'>,
  endedBy: CancelledBy,
  bookingReference: string | null,
): RefundCaseSummary {
  const offer = lockedOffer(intent);
  const part = partOf(row);
  const rule = partRuleOf(part, offer, BigInt(intent.amount), endedBy);
  return {
    request_id: row.request_id,
    intent_id: row.intent_id,
    status: row.state === 'settling' ? 'received' : row.state,
    requested_at: instant(row.requested_at_ms),
    journey_date: row.journey_date,
    route: `${offer.origin_iata}-${offer.destination_iata}`,
    booking_reference: bookingReference,
    captured_amount: Number(stakeOf(part, BigInt(intent.amount))),
    ...(part && {
      passengers: part.of.map(({ passenger, type, amount }) => ({ passenger, type, paid_amount: amount })),
      others_stay: !part.ends,
    }),
    cancelled_by: endedBy,
    refund_rule: {
      kind: rule.kind,
      penalty_amount: numberOrNull(rule.penalty),
      payout_amount: numberOrNull(rule.payout),
    },
    payout_amount: row.payout_amount,
    claimed_by: row.claimed_by_name,
    claimed_at: instantOrNull(row.claimed_at_ms),
  };
}

function readCursor(cursor: string): [string | number, string] {
  try {
    const [value, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if ((typeof value === 'string' || typeof value === 'number') && typeof id === 'string') return [value, id];
  } catch (cause) {
    throw badCursor(cause);
  }
  throw badCursor();
}

const badCursor = (cause?: unknown) =>
  problem('invalid_request', {
    detail: { issues: [{ path: 'cursor', message: 'is not one of ours.' }] },
    ...(cause === undefined ? {} : { cause }),
  });
