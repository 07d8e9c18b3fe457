import type { CabinClass, Offer } from '../../wire/flights/index.ts';
import { openBook } from '../base/index.ts';
import type { BehaviourOf, OrderBehaviourName, SwitchName } from './behaviours.ts';
import { refused } from './errors.ts';

/** A search; seed and time make its offers again. */
export interface OfferRequestRecord {
  readonly number: number;
  readonly slices: readonly {
    readonly origin: string;
    readonly destination: string;
    readonly departure_date: string;
  }[];
  /** The travellers' ages; null for an adult. */
  readonly ages: readonly (number | null)[];
  readonly cabinClass: CabinClass;
  readonly maxConnections: number;
  readonly createdAtMs: number;
  /** The least number of offers; copies at other prices fill it up. */
  readonly leastOffers: number;
  /** For a change of an order: the number of the search with its travellers. */
  readonly passengersOf?: number;
}

export interface WorldOffer {
  readonly request: OfferRequestRecord;
  /** The position in its search's answer. */
  readonly index: number;
  /** The offer in its seller's currency and amounts. */
  readonly offer: Offer;
  readonly ownerName: string;
  /** Null for an agency. */
  readonly ownerCode: string | null;
  readonly totalCents: number;
  /** Included in the total. */
  readonly taxCents: number | null;
  readonly baseCents: number | null;
}

export interface BookedService {
  readonly id: string;
  readonly type: 'checked' | 'carry_on' | 'seat';
  /** Of a seat. */
  readonly designator?: string;
  readonly segmentId?: string;
  readonly flight?: string;
  readonly disclosures?: readonly string[];
  readonly weightKg: number | null;
  readonly quantity: number;
  readonly totalCents: number;
  readonly passengerId: string;
}

export type OfferedService = BookedService & { readonly most: number };

/** The airline's order; its travellers are only in memory. */
export interface OrderRecord {
  readonly id: string;
  readonly offerId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly services: readonly BookedService[];
  readonly totalCents: number;
  readonly currency: string;
  readonly createdAtMs: number;
  /** The time from which the API shows it; null for never. */
  readonly listedAtMs: number | null;
  /** Null if there are no tickets, only a booking reference. */
  readonly ticketedAtMs: number | null;
  readonly bookingReference: string;
  readonly cancelledAtMs: number | null;
  readonly refund: { readonly cents: number | null; readonly currency: string; readonly to: string } | null;
  /** Of a held order: its end, and its payment. */
  readonly heldUntilMs?: number;
  readonly paidAtMs?: number;
  /** The offer id of the flights after a change. */
  readonly changedTo?: string;
}

/** A try to create an order, with its outcome. */
export interface AttemptRecord {
  readonly number: number;
  readonly atMs: number;
  readonly offerId: string;
  readonly reference: string | null;
  readonly behaviour: OrderBehaviourName | null;
  readonly status: number;
  readonly code: string | null;
  readonly orderId: string | null;
}

export interface CancellationRecord {
  readonly id: string;
  readonly orderId: string;
  readonly refundCents: number | null;
  readonly currency: string;
  readonly to: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly confirmedAtMs: number | null;
}

/** A change by the airline moves all times of an order. */
export interface ChangeRecord {
  readonly id: string;
  readonly number: number;
  readonly orderId: string;
  readonly movedMinutes: number;
  readonly createdAtMs: number;
  readonly acceptedAtMs: number | null;
  /** The action that the agency reported, other than accepting it here. */
  readonly actionTaken?: string;
}

/** A search for other flights of an order. */
export interface ChangeRequestRecord {
  readonly number: number;
  readonly orderId: string;
  readonly requestNumber: number;
  /** The indexes of the removed directions. */
  readonly removed: readonly number[];
}

export interface OrderChangeRecord {
  readonly number: number;
  readonly changeRequest: number;
  /** The offer's index in the search. */
  readonly index: number;
  /** The view at its confirmation, because the order has changed since. */
  readonly shown: object | null;
  readonly confirmedAtMs: number | null;
}

export interface EventRecord {
  readonly id: string;
  readonly number: number;
  readonly type: string;
  readonly idempotencyKey: string;
  /** Without passengers. */
  readonly object: object;
  readonly createdAtMs: number;
  /** Times of the deliveries that are left. */
  readonly due: readonly number[];
  /** Consecutive delivery failures. */
  readonly failures: number;
  readonly deliveries: readonly { readonly atMs: number; readonly status: number | null }[];
}

export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly events: readonly string[];
  readonly createdAtMs: number;
  readonly isOff?: boolean;
}

/** The behaviours of the `next` calls, then `always`. */
interface SwitchRecord {
  readonly always: string;
  readonly next: readonly string[];
}

interface Kinds {
  request: OfferRequestRecord;
  /** An offer's changes since its search. */
  offer: {
    readonly reads: number;
    readonly raisedCents: number;
    /** Added to the price of each bag; null if none are left. */
    readonly bagCents?: number | null;
    /** Added to the price of each seat; null if none are left. */
    readonly seatCents?: number | null;
  };
  order: OrderRecord;
  attempt: AttemptRecord;
  cancellation: CancellationRecord;
  change: ChangeRecord;
  change_request: ChangeRequestRecord;
  order_change: OrderChangeRecord;
  event: EventRecord;
  webhook: WebhookRecord;
  switch: SwitchRecord;
  /** `balance` in cents (absent: unlimited); `least_offers`; `rate_limit`. */
  setting: number;
  counter: number;
}

const TABLES = `
  create table if not exists records (
    position integer primary key, kind text not null, id text not null, value text not null, unique (kind, id))`;

/**
 * Opens books in memory, and in a file of this process alone if there is a path. Changes are written before the
 * answer, without passengers.
 */
export function openBooks(path: string | null) {
  const book = path === null ? null : openBook(path, TABLES);
  const kinds: Record<string, Map<string, unknown>> = {};
  const recordsOf = (kind: string) => {
    kinds[kind] ??= new Map();
    return kinds[kind];
  };
  const stored = book?.rows<{ kind: string; id: string; value: string }>('select * from records order by position');
  for (const { kind, id, value } of stored ?? []) recordsOf(kind).set(id, JSON.parse(value));

  const shelf = <K extends keyof Kinds>(kind: K) => {
    const records = recordsOf(kind) as Map<string, Kinds[K]>;
    const get = (id: string | number): Kinds[K] | undefined => records.get(String(id));
    return {
      get,
      /** @throws ApiError `not_found` */
      need(id: string): Kinds[K] {
        const record = get(id);
        if (record === undefined) throw refused('not_found');
        return record;
      },
      put(id: string | number, value: Kinds[K]): Kinds[K] {
        const row = { kind, id: String(id), value: JSON.stringify(value) };
        book?.insert('records', row, 'on conflict (kind, id) do update set value = excluded.value');
        records.set(String(id), value);
        return value;
      },
      drop(id: string): void {
        book?.run('delete from records where kind = ? and id = ?', kind, id);
        records.delete(id);
      },
      all: (): Kinds[K][] => [...records.values()],
    };
  };
  const counters = shelf('counter');
  const switches = shelf('switch');
  const switchOf = (name: SwitchName): SwitchRecord => switches.get(name) ?? { always: 'normal', next: [] };
  return {
    requests: shelf('request'),
    offers: shelf('offer'),
    orders: shelf('order'),
    attempts: shelf('attempt'),
    cancellations: shelf('cancellation'),
    changes: shelf('change'),
    changeRequests: shelf('change_request'),
    orderChanges: shelf('order_change'),
    events: shelf('event'),
    webhooks: shelf('webhook'),
    settings: shelf('setting'),
    /** Counts from 1 by name. */
    count: (name: string): number => counters.put(name, (counters.get(name) ?? 0) + 1),
    switchOf,
    turn: (name: SwitchName, record: SwitchRecord): SwitchRecord => switches.put(name, record),

    /** Takes this call's behaviour, using up one of `next`; null if normal. @param among behaviours that it can have */
    take<S extends SwitchName, B extends BehaviourOf<S>>(name: S, among?: readonly B[]): B | null {
      const { always, next } = switchOf(name);
      const means = (behaviour: string): behaviour is B =>
        among === undefined || among.some((one) => one === behaviour);
      const [first, ...rest] = next;
      if (first !== undefined && (means(first) || first === 'normal')) {
        switches.put(name, { always, next: rest });
        return means(first) ? first : null;
      }
      return always !== 'normal' && means(always) ? always : null;
    },

    close: () => book?.close(),
  };
}

export type Books = ReturnType<typeof openBooks>;
