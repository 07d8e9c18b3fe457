import type { CabinClass, Offer } from '../../wire/flights/index.ts';
import { openBook } from '../base/index.ts';
import type { BehaviourOf, OrderBehaviourName, SwitchName } from './behaviours.ts';
import { refused } from './errors.ts';

/** A search. Its offers are made again from it: the same seed and moment give the same world. */
export interface OfferRequestRecord {
  readonly number: number;
  readonly slices: readonly {
    readonly origin: string;
    readonly destination: string;
    readonly departure_date: string;
  }[];
  /** By position; null is an adult. */
  readonly ages: readonly (number | null)[];
  readonly cabinClass: CabinClass;
  readonly maxConnections: number;
  readonly createdAtMs: number;
  /** Offers at least: copies with prices of their own make a long answer. */
  readonly leastOffers: number;
  /** The search whose travellers these are, where an order is changed. */
  readonly passengersOf?: number;
}

/** An offer of the sandbox airline's world, and who sells it here. */
export interface WorldOffer {
  readonly request: OfferRequestRecord;
  /** Its position in the answer of its search. */
  readonly index: number;
  /** Journey, prices and fares; the currency and the amounts are those that it is sold at here. */
  readonly offer: Offer;
  readonly ownerName: string;
  /** null for an agency. */
  readonly ownerCode: string | null;
  readonly totalCents: number;
  /** Never added up to the total by the API. */
  readonly taxCents: number | null;
  readonly baseCents: number | null;
}

/** Changes to one offer since it was found. */
interface OfferState {
  readonly reads: number;
  readonly raisedCents: number;
}

export interface BookedService {
  readonly id: string;
  readonly type: 'checked' | 'carry_on' | 'seat';
  /** Of a seat: where it is, and the offer's flight that it is on. */
  readonly designator?: string;
  readonly segmentId?: string;
  readonly weightKg: number | null;
  readonly quantity: number;
  readonly totalCents: number;
  readonly passengerId: string;
}

export type OfferedService = BookedService & { readonly most: number };

/** An order as the airline has it; who travels is kept apart, in memory alone. */
export interface OrderRecord {
  readonly id: string;
  readonly number: number;
  readonly offerId: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly services: readonly BookedService[];
  readonly totalCents: number;
  readonly currency: string;
  readonly createdAtMs: number;
  /** From when on the API shows it; null: never. */
  readonly listedAtMs: number | null;
  /** null: it has no tickets, only its booking reference. */
  readonly ticketedAtMs: number | null;
  readonly bookingReference: string;
  readonly cancelledAtMs: number | null;
  readonly refund: { readonly cents: number | null; readonly currency: string; readonly to: string } | null;
  /** Of an order that was not paid at once: until when it is held, and when it was paid. */
  readonly heldUntilMs?: number;
  readonly paidAtMs?: number;
  /** The offer whose flights it has since its traveller changed it. */
  readonly changedTo?: string;
}

/** One POST of an order that was let in, and what came of it. */
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
  readonly number: number;
  readonly orderId: string;
  readonly refundCents: number | null;
  readonly currency: string;
  readonly to: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly confirmedAtMs: number | null;
}

/** A change that an airline made to an order: all its times move by so much. */
export interface ChangeRecord {
  readonly id: string;
  readonly number: number;
  readonly orderId: string;
  readonly movedMinutes: number;
  readonly createdAtMs: number;
  readonly acceptedAtMs: number | null;
  /** The outcome that the agency reported, other than by accepting it. */
  readonly actionTaken?: string;
}

/** A search for other flights for some directions of an order. */
export interface ChangeRequestRecord {
  readonly number: number;
  readonly orderId: string;
  readonly requestNumber: number;
  /** Places of these directions. */
  readonly removed: readonly number[];
}

export interface OrderChangeRecord {
  readonly number: number;
  readonly changeRequest: number;
  /** The place of its offer in the search. */
  readonly index: number;
  /** How it was shown when it was confirmed: the order has changed since. */
  readonly shown: object | null;
  readonly confirmedAtMs: number | null;
}

export interface EventRecord {
  readonly id: string;
  readonly number: number;
  readonly type: string;
  readonly idempotencyKey: string;
  /** JSON of what it is about; no passengers. */
  readonly object: object;
  readonly createdAtMs: number;
  /** When it is to be delivered, once for each. */
  readonly due: readonly number[];
  /** Failures of its delivery in a row. */
  readonly failures: number;
  readonly deliveries: readonly { readonly atMs: number; readonly status: number | null }[];
}

export interface WebhookRecord {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  readonly events: readonly string[];
  readonly createdAtMs: number;
  /** It gets no events. */
  readonly isOff?: boolean;
}

/** How the sandbox behaves until its switch is changed. `next` goes before `always`. */
interface SwitchRecord {
  readonly always: string;
  readonly next: readonly string[];
}

interface Kinds {
  request: OfferRequestRecord;
  offer: OfferState;
  order: OrderRecord;
  attempt: AttemptRecord;
  cancellation: CancellationRecord;
  change: ChangeRecord;
  change_request: ChangeRequestRecord;
  order_change: OrderChangeRecord;
  event: EventRecord;
  webhook: WebhookRecord;
  switch: SwitchRecord;
  /** `balance` in cents, absent while it is unlimited; `least_offers`; `rate_limit`. */
  setting: number;
  counter: number;
}

const TABLES = `
  create table if not exists records (
    position integer primary key, kind text not null, id text not null, value text not null, unique (kind, id))`;

/**
 * The sandbox's own books: in memory, and in a file where one is named. Every change is written before it is answered;
 * one process opens a file. Nothing of a passenger but how many they are reaches it.
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

  /** Records of one kind, in the order in which they were first put. */
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
    /** 1, 2, 3, … for each name. */
    count: (name: string): number => counters.put(name, (counters.get(name) ?? 0) + 1),
    switchOf,
    turn: (name: SwitchName, record: SwitchRecord): SwitchRecord => switches.put(name, record),

    /**
     * The behaviour of this one call; it is used up if it was set for the next one. null: none was set.
     * @param among the behaviours that mean this call: any other one waits for its own
     */
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
