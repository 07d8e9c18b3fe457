import type { KindName } from './errors.ts';

/**
 * `made`: the order exists `at_once`; `later` (then found by its offer and sent by webhook); as a `stray` (booked,
 * never shown); not at all, with a failure by webhook (`fails_later`); or `never`.
 */
export interface OrderBehaviour {
  readonly made: 'at_once' | 'later' | 'stray' | 'fails_later' | 'never';
  readonly answer: 'order' | 'order_200' | 'accepted' | 'cut' | 'html' | 'html_401' | 'text_403' | KindName;
  /** Waits `slowMs` before the answer. */
  readonly slow?: true;
  readonly tickets?: 'later' | 'never';
  /** The airline never got the order, so the offer can be tried again. */
  readonly frees?: true;
}

export const ORDER_BEHAVIOURS = {
  normal: { made: 'at_once', answer: 'order' },
  ticket_later: { made: 'at_once', answer: 'order', tickets: 'later' },
  ticketless: { made: 'at_once', answer: 'order', tickets: 'never' },
  slow: { made: 'at_once', answer: 'order', slow: true },
  created_unreadable: { made: 'later', answer: 'order_200' },
  accepted: { made: 'later', answer: 'accepted' },
  accepted_failed: { made: 'fails_later', answer: 'accepted' },
  cut_before: { made: 'never', answer: 'cut', frees: true },
  cut_after: { made: 'at_once', answer: 'cut' },
  cut_late: { made: 'later', answer: 'cut' },
  internal_error: { made: 'never', answer: 'internal_server_error' },
  internal_error_made: { made: 'later', answer: 'internal_server_error' },
  order_not_created: { made: 'never', answer: 'order_not_created', frees: true },
  airline_unknown: { made: 'never', answer: 'airline_unknown' },
  airline_unknown_made: { made: 'later', answer: 'airline_unknown' },
  airline_unknown_stray: { made: 'stray', answer: 'airline_unknown' },
  unavailable: { made: 'never', answer: 'service_unavailable', frees: true },
  gateway_timeout: { made: 'never', answer: 'gateway_timeout_error' },
  gateway_timeout_made: { made: 'later', answer: 'gateway_timeout_error' },
  html: { made: 'never', answer: 'html' },
  html_made: { made: 'at_once', answer: 'html' },
  // A gateway refuses the call, before or after it passed the call on.
  unauthorized: { made: 'never', answer: 'html_401' },
  unauthorized_made: { made: 'at_once', answer: 'html_401' },
  unauthorized_made_later: { made: 'later', answer: 'html_401' },
  forbidden: { made: 'never', answer: 'text_403' },
  forbidden_made: { made: 'at_once', answer: 'text_403' },
  // The API refuses, but the order was made.
  refused_made: { made: 'at_once', answer: 'insufficient_permissions' },
  unavailable_made: { made: 'at_once', answer: 'service_unavailable' },
  accepted_slow: { made: 'later', answer: 'accepted', slow: true },
  rate_limited: { made: 'never', answer: 'rate_limit_exceeded', frees: true },
  insufficient_balance: { made: 'never', answer: 'insufficient_balance', frees: true },
  price_changed: { made: 'never', answer: 'price_changed', frees: true },
  offer_gone: { made: 'never', answer: 'offer_no_longer_available', frees: true },
} as const satisfies Record<string, OrderBehaviour>;

export type OrderBehaviourName = keyof typeof ORDER_BEHAVIOURS;

export const OF_QUOTE = [
  'cheaper',
  'dearer',
  'amount_unknown',
  'voucher',
  'other_currency',
  'quote_airline_unknown',
] as const;
export const OF_CONFIRMATION = [
  'confirm_cut_before',
  'confirm_cut_after',
  'confirm_timeout_done',
  'confirm_airline_unknown',
] as const;
export const CANCELLATION_BEHAVIOURS = ['normal', ...OF_QUOTE, ...OF_CONFIRMATION] as const;

export const BEHAVIOURS = {
  order: Object.keys(ORDER_BEHAVIOURS) as readonly OrderBehaviourName[],
  offer: [
    'normal',
    'price_up',
    'bags_up',
    'bags_gone',
    'seats_up',
    'seats_gone',
    'gone',
    'not_found',
    'internal_error',
    'html',
    'rate_limited',
    'cut',
    'slow',
  ],
  search: ['normal', 'empty', 'timeout', 'internal_error', 'html', 'rate_limited', 'cut', 'slow'],
  cancellation: CANCELLATION_BEHAVIOURS,
  order_read: ['normal', 'internal_error', 'html', 'rate_limited', 'cut', 'slow', 'not_found', 'empty'],
  webhook: ['normal', 'late', 'twice', 'shuffled', 'lost'],
} as const;

export type SwitchName = keyof typeof BEHAVIOURS;
export type BehaviourOf<S extends SwitchName> = (typeof BEHAVIOURS)[S][number];

/** One of the API's test routes. Each has one behaviour, and airline ZZ flies it. */
interface TestRoute {
  readonly origin: string;
  readonly destination: string;
  readonly what: string;
  readonly search?: BehaviourOf<'search'>;
  readonly offer?: BehaviourOf<'offer'>;
  readonly order?: OrderBehaviourName;
  readonly trait?: string;
}

export const TEST_ROUTES: readonly TestRoute[] = [
  { origin: 'PVD', destination: 'RAI', search: 'empty', what: 'Nothing is found' },
  { origin: 'JFK', destination: 'EWR', trait: 'holdable', what: 'Offers that need no instant payment' },
  { origin: 'LHR', destination: 'DXB', trait: 'connecting', what: 'Connections alone' },
  { origin: 'DXB', destination: 'AMS', trait: 'technical_stop', what: 'A stop within a flight' },
  { origin: 'BTS', destination: 'MRU', trait: 'no_bags', what: 'No bags' },
  { origin: 'BTS', destination: 'ABV', trait: 'no_services', what: 'No services' },
  { origin: 'STN', destination: 'LHR', search: 'timeout', what: 'The search is 504' },
  { origin: 'LGW', destination: 'LHR', offer: 'gone', what: 'The offer is gone when it is read' },
  { origin: 'LHR', destination: 'STN', offer: 'price_up', what: 'The price rises by 10.00 with every read' },
  { origin: 'LHR', destination: 'LGW', order: 'airline_unknown', what: 'The order is 502, and none is made' },
  { origin: 'LGW', destination: 'STN', order: 'insufficient_balance', what: 'The balance is too low' },
  { origin: 'LTN', destination: 'STN', order: 'created_unreadable', what: '200; the order can be read later' },
  { origin: 'SEN', destination: 'STN', order: 'accepted', what: '202; the order is there later' },
  { origin: 'LCY', destination: 'STN', order: 'accepted_failed', what: '202; then the order fails' },
  {
    origin: 'LHR',
    destination: 'LTN',
    trait: 'changes_per_read',
    what: 'The airline moves the flight by an hour with every read of its changes',
  },
  { origin: 'LTN', destination: 'SYD', trait: 'airline_credits', what: 'Refunds are airline credits' },
];

export const testRoute = (origin: string, destination: string): TestRoute | undefined =>
  TEST_ROUTES.find((route) => route.origin === origin && route.destination === destination);
