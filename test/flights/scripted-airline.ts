import type {
  CancellationQuote,
  LiveOffer,
  OfferMoment,
  Provider,
  ProviderBalance,
  ProviderOrder,
} from '../../src/airlines/provider.ts';
import type { PassengerIssue } from '../../src/kernel/domain/passengers.ts';
import { problem } from '../../src/kernel/problems.ts';
import type { Offer } from '../../src/wire/flights/index.ts';

/**
 * An airline that does what a test tells it, for what the sandbox never does on its own: silence at a chosen moment,
 * an order that can't be found, travel documents for a fast offer.
 */
export function scriptedAirline(nowMs: () => number) {
  const orders = new Map<string, ProviderOrder>();
  const script = {
    price: '151.20',
    currency: 'USD',
    documents: false,
    passengerCount: 1,
    lifeMs: 20 * 60_000,
    /** What each call does before it answers; throw to be silent. */
    before: {} as Partial<Record<keyof Provider, () => void | Promise<void>>>,
    /** Ends at once unless told otherwise. */
    status: 'ticketed' as ProviderOrder['status'],
    /** Whether it still cancels what is ticketed. */
    cancelsTickets: false,
    /** An order stays as it is, whoever cancels it. */
    keepsOrders: false,
    conditions: null as Offer['conditions'],
    /** Calls that reached the airline. */
    created: 0,
    cancelledSome: 0,
    /** References that nobody can say anything about, though none of their orders is seen. */
    unknown: new Set<string>(),
    record: 'ZX7QPL',
    tickets: ['9991234567890'],
    /** When the flight leaves and lands; moved, the orders move with it. */
    times: ['2026-12-20T10:00:00', '2026-12-20T14:30:00'] as readonly [string, string],
    /** Why each offer was read. */
    moments: [] as (OfferMoment | undefined)[],
    issues: [] as PassengerIssue[],
    /** null: it can't be cancelled there. */
    quote: null as CancellationQuote | null,
    quoted: 0,
    taken: [] as (string | undefined)[],
    /** The seats that it shows; absent: none are sold. */
    seatMaps: undefined as LiveOffer['seatMaps'],
    balance: { amountDecimal: '100000.00', currency: 'USD' } as ProviderBalance,
  };
  const live = (offerId: string): LiveOffer => ({
    passengerCount: script.passengerCount,
    offer: offerOf(offerId, script, nowMs()),
    availableServices: [],
    ...(script.seatMaps && { seatMaps: script.seatMaps }),
  });
  const told = async <T>(call: keyof Provider, answer: () => T): Promise<T> => {
    await script.before[call]?.();
    return answer();
  };
  const orderOf = (id: string): ProviderOrder => {
    const order = [...orders.values()].find((one) => one.providerOrderId === id);
    if (!order) throw problem('provider_failed');
    return {
      ...order,
      status: order.status === 'cancelled' ? 'cancelled' : script.status,
      slices: live('off_1').offer.slices,
      bookingReference: script.record,
      documents: script.tickets.map((number) => ({ type: 'electronic_ticket', number })),
    };
  };
  const provider: Provider = {
    name: 'scripted',
    isSandbox: true,
    airport: (iata) =>
      ['LIS', 'BER'].includes(iata) ? { name: iata, city: iata, country: 'PT', timeZone: 'Europe/Lisbon' } : null,
    search: () => told('search', () => [live('off_1').offer]),
    offer: (offerId, moment) =>
      told('offer', () => {
        script.moments.push(moment);
        if (!offerId.startsWith('off_')) throw problem('offer_not_found');
        return live(offerId);
      }),
    createOrder: (request) =>
      told('createOrder', () => {
        const known = orders.get(request.reference);
        if (known) return orderOf(known.providerOrderId);
        script.created++;
        const order: ProviderOrder = {
          providerOrderId: `air_${request.reference}`,
          reference: request.reference,
          status: script.status,
          bookingReference: script.record,
          documents: script.tickets.map((number) => ({ type: 'electronic_ticket', number })),
          totalAmountDecimal: request.expectedAmountDecimal,
          totalCurrency: 'USD',
          slices: live(request.offerId).offer.slices,
          failure: null,
          createdAtMs: nowMs(),
          updatedAtMs: nowMs(),
        };
        orders.set(request.reference, order);
        return order;
      }),
    findOrder: (reference) =>
      told('findOrder', () => {
        const order = orders.get(reference);
        if (order) return orderOf(order.providerOrderId);
        return script.unknown.has(reference) ? 'unknown' : null;
      }),
    order: (id) => told('order', () => orderOf(id)),
    orders: (sinceMs) =>
      told('orders', () =>
        [...orders.values()].filter((one) => one.createdAtMs >= sinceMs).map((one) => orderOf(one.providerOrderId)),
      ),
    cancel: (id, quoteId) =>
      told('cancel', () => {
        script.taken.push(quoteId);
        const order = orderOf(id);
        if (script.keepsOrders || (order.status === 'ticketed' && !script.cancelsTickets)) return order;
        orders.set(order.reference, { ...order, status: 'cancelled' });
        return orderOf(id);
      }),
    cancelPassengers: (id, passengers) =>
      told('cancelPassengers', () => {
        script.cancelledSome++;
        const order = orderOf(id);
        const gone = [...new Set([...(order.cancelledPassengers ?? []), ...passengers])];
        orders.set(order.reference, { ...order, cancelledPassengers: gone });
        return orderOf(id);
      }),
  };
  /** Somebody other than the service cancels an order: the airline itself, or a person with the airline. */
  const end = (reference: string): void => {
    const order = orders.get(reference);
    if (!order) throw new Error(`no order of ${reference}`);
    orders.set(reference, { ...order, status: 'cancelled' });
  };
  return { provider, script, orders, end };
}

/** The same airline as one of many that stand behind an interface: it quotes, changes, writes, and is paid from a balance. */
export function quotingAirline({ provider, script }: ScriptedAirline): Provider {
  return {
    ...provider,
    changesSchedules: true,
    async cancel(id, quoteId) {
      const { quote } = script;
      if (quoteId !== undefined && quoteId !== quote?.quoteId) throw problem('plan_changed');
      return provider.cancel(id, quoteId);
    },
    async cancellationQuote() {
      await script.before.cancellationQuote?.();
      script.quoted++;
      return script.quote;
    },
    passengerIssues: () => script.issues,
    async balance() {
      await script.before.balance?.();
      return script.balance;
    },
    async receive({ body, headers }) {
      if (headers['x-signature'] !== 'right') throw problem('unauthorized');
      return JSON.parse(new TextDecoder().decode(body)) as string[];
    },
  };
}

export type ScriptedAirline = ReturnType<typeof scriptedAirline>;

function offerOf(
  offerId: string,
  script: {
    price: string;
    currency: string;
    documents: boolean;
    lifeMs: number;
    conditions: Offer['conditions'];
    times: readonly [string, string];
  },
  nowMs: number,
): Offer {
  const journey = {
    origin_iata: 'LIS',
    destination_iata: 'BER',
    departing_at: script.times[0],
    arriving_at: script.times[1],
    origin_time_zone: 'Europe/Lisbon',
    destination_time_zone: 'Europe/Berlin',
    duration: 'PT3H30M',
    technical_stops: 0,
  };
  return {
    offer_id: offerId,
    comparison_key: 'ZX1@2026-12-20',
    owner_name: 'Zephyr Example',
    ...journey,
    stops: 0,
    slices: [
      {
        ...journey,
        stops: 0,
        fare_brand_name: 'Light',
        segments: [
          {
            ...journey,
            carrier_name: 'Zephyr Example',
            operating_flight_number: null,
            marketing_carrier_name: 'Zephyr Example',
            flight_number: 'ZX1',
            aircraft_name: null,
            origin_terminal: null,
            destination_terminal: null,
            fare_basis_code: null,
            technical_stop_airports: [],
          },
        ],
      },
    ],
    fare_brand_name: 'Light',
    cabin_class: 'economy',
    cabin_class_marketing_name: null,
    checked_bags_included: null,
    carry_on_bags_included: 1,
    conditions: script.conditions,
    total_amount: Math.round(Number(script.price) * 1_000_000),
    total_amount_decimal: script.price,
    total_currency: script.currency,
    base_amount_decimal: null,
    tax_amount_decimal: null,
    total_emissions_kg: null,
    supported_loyalty_programmes: [],
    identity_documents_required: script.documents,
    requires_instant_payment: true,
    expires_at: new Date(nowMs + script.lifeMs).toISOString(),
  };
}
