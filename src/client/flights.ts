import { type Clock, systemClock } from '../kernel/clock.ts';
import type { Bags } from '../kernel/domain/bags.ts';
import type { Fetch } from '../kernel/http.ts';
import { isProblem, problem, reworded } from '../kernel/problems.ts';
import type * as wire from '../wire/flights/index.ts';
import {
  type AnswerRules,
  affiliateCreditOf,
  affiliateOf,
  answerRules,
  ask,
  bookOf,
  type Call,
  type CallOptions,
  createdIntentOf,
  healthOf,
  intentOf,
  offerDetailsOf,
  orderOf,
  type Paid,
  type Patience,
  problemOf,
  refundRequestOf,
  searchOf,
  searchUpdatesOf,
  segmentOf,
} from './base/index.ts';
import type { PaidExchange, Payer } from './payer/index.ts';

interface FlightsClientPorts {
  /** An embedded service accepts any http address. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly payer: Payer;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** How long recovered offers, prices and statuses are useful; what was bought always is. */
const FRESH_MS = 600_000;
const MENU_PAUSE_MS = 1_000;
const SHORTEST_PAUSE_MS = 50;

const get = (path: string) => ({ method: 'GET' as const, path });
const post = (path: string, body: unknown) => ({ method: 'POST' as const, path, body });
const withCode = (supportCode: string) => ({ 'X-Customer-Support-Code': supportCode });

export type FlightsClient = ReturnType<typeof createFlightsClient>;

/**
 * A typed client of the flight service. Raises the Problems of the service (`code` and `detail` kept), of `Payer.send`
 * and of `ask`.
 */
export function createFlightsClient(ports: FlightsClientPorts) {
  const free = (call: FreeCall, options: CallOptions) => askFree(ports, call, options);
  const paid = <T>(call: PaidCall, read: (body: unknown) => T, options: CallOptions) =>
    askPaid(ports, call, read, options);

  return {
    health: async (options: CallOptions = {}) => healthOf(await free(get('/health'), options)),
    search: (request: wire.SearchRequestInput, options: CallOptions = {}) =>
      paid({ ...post('/air/search', request), freshForMs: FRESH_MS }, searchOf, options).catch(saidOfLater),
    /** Offers after `cursor`. Free. */
    async searchUpdates(request: wire.SearchUpdatesRequest, options: CallOptions = {}) {
      const body = await free(post('/air/search-updates', request), options);
      return searchUpdatesOf(body, request.search_id, request.cursor ?? '');
    },
    offerDetails: (offerId: string, options: DetailsOptions = {}) => offerDetails(ports, offerId, options),
    createIntent: (request: wire.CreateIntentRequest, options: CallOptions = {}) =>
      paid(post('/air/intents', request), createdIntentOf, options).catch(saidOfLater),
    /** With the support code, includes an operator's reason for a rejected refund. */
    async intent(
      intentId: string,
      { supportCode, ...options }: CallOptions & { supportCode?: string | undefined } = {},
    ) {
      const headers = supportCode ? withCode(supportCode) : {};
      return intentOf(await free({ ...get(`/air/intents/${segmentOf(intentId)}`), headers }, options));
    },
    /**
     * Checks the escrow on chain and against the agreed terms before paying it (DESIGN, section 5). `refundWallet` is
     * the wallet that the person named for this booking.
     */
    book(
      intent: wire.Intent,
      passengers: readonly wire.Passenger[],
      { refundWallet, ...options }: CallOptions & { refundWallet?: string | undefined } = {},
    ) {
      const call = post('/air/book', { intent_id: intent.intent_id, passengers });
      return paid({ ...call, booking: intent, refundWallet }, (body) => bookOf(body, intent.intent_id), options);
    },
    requestRefund(
      request: wire.RefundRequest,
      { supportCode, familyName }: { readonly supportCode: string; readonly familyName: string },
      options: CallOptions = {},
    ) {
      // Headers are bytes: names beyond ASCII travel as UTF-8.
      const name = Buffer.from(familyName, 'utf8').toString('latin1');
      const headers = { ...withCode(supportCode), 'X-Passenger-Family-Name': name };
      const call = { ...post('/air/refund-requests', request), headers };
      return paid(call, (body) => refundRequestOf(body, request.intent_id), options);
    },
    order(orderId: string, supportCode: string, options: CallOptions = {}) {
      const call = { ...get(`/air/orders/${segmentOf(orderId)}`), headers: withCode(supportCode) };
      return paid({ ...call, freshForMs: FRESH_MS }, orderOf, options);
    },
    /** Makes or finds a wallet's affiliate code. Free. */
    createAffiliate: async (wallet: string, options: CallOptions = {}) =>
      affiliateOf(await free(post('/affiliates', { wallet }), options)),
    affiliate: async (code: string, options: CallOptions = {}) =>
      affiliateCreditOf(await free(get(`/affiliates/${segmentOf(code)}`), options)),
  };
}

type FreeCall = Pick<Call, 'method' | 'path' | 'body' | 'headers'>;
type PaidCall = Omit<PaidExchange, 'baseUrl' | 'fetch' | keyof AnswerRules>;

async function askFree(ports: FlightsClientPorts, call: FreeCall, options: CallOptions): Promise<unknown> {
  options.onPhase?.('asking');
  const answer = await ask({ baseUrl: ports.baseUrl, fetch: ports.fetch, ...call }, patience(ports, options));
  if (answer.status >= 300) throw problemOf(answer);
  return answer.body;
}

async function askPaid<T>(
  ports: FlightsClientPorts,
  call: PaidCall,
  read: (body: unknown) => T,
  options: CallOptions,
): Promise<Paid<T>> {
  const { baseUrl, fetch, payer } = ports;
  const rules = answerRules({ resource: `${call.method} ${call.path}`, body: call.body }, baseUrl);
  const exchange = { baseUrl, fetch, ...call, ...rules };
  const { body, payment } = await payer.send(exchange, patience(ports, options), options);
  return { value: read(body), payment };
}

interface DetailsOptions extends CallOptions {
  /** Prices the offer and its menu with these bags. */
  readonly bags?: Bags | undefined;
  readonly seats?: boolean | undefined;
}

/**
 * Polls a fare menu with one payment, which neither a pending nor a failed menu charges; at the timeout it returns the
 * menu pending and unpaid.
 */
async function offerDetails(
  ports: FlightsClientPorts,
  offerId: string,
  { bags, seats, ...options }: DetailsOptions,
): Promise<Paid<wire.OfferDetailsResponse>> {
  const { clock = systemClock } = ports;
  const request = { offer_id: offerId, ...(bags && { bags }), ...(seats && { seats }) };
  const call = { ...post('/air/offer-details', request), freshForMs: FRESH_MS };
  const deadlineMs = clock.now() + timeoutOf(ports);
  for (;;) {
    const details = await askPaid(ports, call, offerDetailsOf, options).catch(saidOfLater);
    if (details.value.fare_menu?.status !== 'pending') return details;
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, details.value.poll_after_ms ?? MENU_PAUSE_MS);
    if (clock.now() + pauseMs > deadlineMs) return details;
    options.onPhase?.('waiting');
    await clock.sleep(pauseMs, options.signal);
    if (options.signal?.aborted) throw problem('interrupted');
  }
}

/** Rewords the refusal of a field that an earlier release, or another service, does not know. */
function saidOfLater(error: unknown): never {
  const issues = isProblem(error, 'invalid_request') ? error.detail?.issues : undefined;
  if (!isProblem(error) || !Array.isArray(issues)) throw error;
  const said = issues.map((issue: { path?: unknown; message?: unknown }) =>
    typeof issue?.message === 'string' && /not a known field|nrecognized/.test(issue.message)
      ? { ...issue, message: 'is not known to this service, which may be of an earlier release. Leave it out.' }
      : issue,
  );
  throw reworded(error, { detail: { ...error.detail, issues: said } });
}

const timeoutOf = ({ timeoutMs = 30_000 }: FlightsClientPorts) => timeoutMs;

const patience = (ports: FlightsClientPorts, { signal }: CallOptions): Patience => ({
  timeoutMs: timeoutOf(ports),
  signal,
});
