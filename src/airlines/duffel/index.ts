import type { Clock } from '../../kernel/clock.ts';
import { AIRPORT_TABLE } from '../../kernel/domain/airport-table.ts';
import { ADULT_FROM } from '../../kernel/domain/travel-ages.ts';
import type { Log } from '../../kernel/log.ts';
import type { Provider } from '../provider.ts';
import { createAttempts } from './creations.ts';
import { createZones } from './itinerary.ts';
import { duffelIssues } from './order-form.ts';
import type { Store } from './tables.ts';
import { createTransport, type Transport } from './transport.ts';

export { type DuffelTables, duffelMigrations } from './tables.ts';

export interface DuffelSettings {
  /** `https://api.duffel.com` */
  readonly url: string;
  /** `duffel_test_...` or `duffel_live_...` */
  readonly token: string;
  /** Signs Duffel's messages; without it all are refused. */
  readonly webhookSecret?: string | undefined;
}

export interface DuffelOptions extends DuffelSettings {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeoutMs?: number | undefined;
}

/**
 * Sells the flights of Duffel's airlines (docs/duffel.md). No call shows the balance that pays orders; an order above
 * it is refused as `provider_balance_low`.
 */
export function createDuffelProvider(options: DuffelOptions): Provider {
  const { url, token, store, clock, log } = options;
  const isLive = token.startsWith('duffel_live_');
  const transport = createTransport({ url, token, clock, log, timeoutMs: options.timeoutMs });
  const attempts = createAttempts({ store, clock });
  const ports = { transport, attempts, zones: createZones(), clock, log };
  return {
    name: 'duffel',
    trouble: createTrouble({ transport, clock }),
    isSandbox: !isLive,
    changesSchedules: true,
    takesAnyAirport: true,
    takesCities: true,
    leastAge: ADULT_FROM,
    airport(iata) {
      const row = AIRPORT_TABLE.find(([code]) => code === iata);
      if (!row) return null;
      const [, name, city, country, , , timeZone] = row;
      return { name, city, country, timeZone };
    },
    search: async (query) => (await import('./search.ts')).searchOffers(ports, query),
    bagsOf: async (offers) => (await import('./offers.ts')).bagsOf(ports, offers),
    offer: async (offerId) => (await import('./offers.ts')).unsoldOffer(ports, offerId),
    createOrder: async (request) => (await import('./ordering.ts')).createOrder(ports, request),
    findOrder: async (reference, offerId) => (await import('./ordering.ts')).findOrder(ports, reference, offerId),
    orders: async (sinceMs) => (await import('./orders.ts')).ordersSince(ports, sinceMs),
    order: async (id) => (await (await import('./orders.ts')).readOrder(ports, id)).order,
    cancel: async (id, quoteId) => (await import('./cancel.ts')).cancelOrder(ports, id, quoteId),
    cancellationQuote: async (id) => (await import('./cancel.ts')).cancellationQuote(ports, id),
    passengerIssues: duffelIssues,
    receive: async (message) =>
      (await import('./webhooks.ts')).receiveWebhook({ ...ports, secret: options.webhookSecret, isLive }, message),
  };
}

const KEPT_MS = 60_000;

/** /ready answers within two seconds. */
const MOST_MS = 1_500;

/** Tests the token with the smallest call. Only Duffel's own refusal counts: silence or a gateway's page does not. */
function createTrouble({ transport, clock }: { readonly transport: Transport; readonly clock: Clock }) {
  let last: { readonly atMs: number; readonly answer: Promise<string | null> } | null = null;
  const ask = async (): Promise<string | null> => {
    const answer = await transport.send({ operation: 'token', path: '/air/airports?limit=1', mostMs: MOST_MS });
    return answer.kind === 'answer' && answer.types.includes('authentication_error')
      ? `it does not take the token (${answer.codes[0] ?? answer.status})`
      : null;
  };
  return (): Promise<string | null> => {
    const nowMs = clock.now();
    if (!last || Math.abs(nowMs - last.atMs) >= KEPT_MS) last = { atMs: nowMs, answer: ask() };
    return last.answer;
  };
}
