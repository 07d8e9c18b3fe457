import { HttpResponse, json } from '../../kernel/http.ts';

type ErrorType =
  | 'authentication_error'
  | 'airline_error'
  | 'invalid_state_error'
  | 'rate_limit_error'
  | 'validation_error'
  | 'invalid_request_error'
  | 'api_error';

type Row = readonly [status: number, type: ErrorType, title: string, message: string];

/** The documented errors of the API, by their codes. */
const KINDS = {
  missing_authorization_header: [
    401,
    'authentication_error',
    'Missing authorization header',
    'Your request has no Authorization header with a bearer token.',
  ],
  access_token_not_found: [
    401,
    'authentication_error',
    'Access token not found',
    'The access token is not known here. The sandbox takes any that begins with duffel_test_.',
  ],
  insufficient_permissions: [
    403,
    'authentication_error',
    'Insufficient permissions',
    'The access token may not make this call.',
  ],
  missing_version_header: [
    400,
    'invalid_request_error',
    'Missing version header',
    'Your request has no Duffel-Version header.',
  ],
  unsupported_version: [
    400,
    'invalid_request_error',
    'Unsupported version',
    'The version in the Duffel-Version header is not supported. Send v2.',
  ],
  not_found: [404, 'invalid_request_error', 'Resource not found', 'The resource that you asked for does not exist.'],
  method_not_allowed: [405, 'invalid_request_error', 'Method not allowed', 'This address does not take this method.'],
  malformed_json: [400, 'invalid_request_error', 'Malformed JSON', 'The body is not a JSON object with a data field.'],
  payload_too_large: [413, 'invalid_request_error', 'Payload too large', 'The body is too large.'],
  rate_limit_exceeded: [
    429,
    'rate_limit_error',
    'Rate limit exceeded',
    'You have made too many requests. Wait until the time in the ratelimit-reset header.',
  ],
  internal_server_error: [
    500,
    'api_error',
    'Internal server error',
    'Something failed on our side. If it goes on, contact support with the request id.',
  ],
  service_unavailable: [
    503,
    'api_error',
    'Service unavailable',
    'The service is unavailable. The order was not created.',
  ],
  gateway_timeout_error: [504, 'api_error', 'Gateway timeout', 'The airline did not answer in time.'],
  order_not_created: [
    502,
    'airline_error',
    'Order not created',
    'The airline could not create the order. Nothing was booked and no payment was taken.',
  ],
  airline_unknown: [
    502,
    'airline_error',
    'Unknown airline error',
    'The airline answered with an error that is not known.',
  ],
  offer_no_longer_available: [
    422,
    'invalid_state_error',
    'Offer no longer available',
    'The selected offer is no longer available. Search again.',
  ],
  offer_expired: [422, 'invalid_state_error', 'Offer expired', 'The selected offer has expired. Search again.'],
  price_changed: [
    422,
    'invalid_state_error',
    'Price changed',
    'The price of the offer has changed. Read the offer again.',
  ],
  insufficient_balance: [
    422,
    'invalid_state_error',
    'Insufficient balance',
    'Your balance does not cover this order. Top it up and try again.',
  ],
  offer_request_already_booked: [
    422,
    'invalid_state_error',
    'Offer request already booked',
    'An order was already created from this offer request.',
  ],
  order_creation_already_attempted: [
    422,
    'invalid_state_error',
    'Order creation already attempted',
    'An order was already attempted with this offer.',
  ],
  duplicate_booking: [
    422,
    'invalid_state_error',
    'Duplicate booking',
    'The airline has a booking with these passengers and flights.',
  ],
  duplicate_passenger_name: [422, 'validation_error', 'Duplicate passenger name', 'Two passengers have the same name.'],
  payment_amount_does_not_match_order_amount: [
    422,
    'validation_error',
    'Payment amount does not match order amount',
    'The amount has to be the total of the offer and of its services.',
  ],
  payment_currency_does_not_match_order_currency: [
    422,
    'validation_error',
    'Payment currency does not match order currency',
    'The currency has to be that of the offer.',
  ],
  already_paid: [422, 'invalid_state_error', 'Already paid', 'The order was paid before.'],
  past_payment_required_by_date: [
    422,
    'invalid_state_error',
    'Past the payment date',
    'The order is no longer held: it had to be paid earlier.',
  ],
  order_change_already_confirmed: [
    422,
    'invalid_state_error',
    'Order change already confirmed',
    'The order was changed by this before.',
  ],
  already_cancelled: [422, 'invalid_state_error', 'Already cancelled', 'The order was cancelled before.'],
  order_not_cancellable: [
    422,
    'invalid_state_error',
    'Order not cancellable',
    'The order can not be cancelled through the API.',
  ],
  order_cancellation_stale: [
    422,
    'invalid_state_error',
    'Order cancellation stale',
    'There is a newer cancellation of this order, or this one has expired.',
  ],
  stale_airline_initiated_change_accept: [
    422,
    'invalid_state_error',
    'Stale airline-initiated change',
    'Only the latest change can be accepted.',
  ],
  unsafe_unique: [422, 'validation_error', 'Already taken', 'There is a webhook already in this mode.'],
} as const satisfies Record<string, Row>;

interface ErrorKind {
  readonly status: number;
  readonly type: ErrorType;
  readonly code: string;
  readonly title: string;
  readonly message: string;
}

interface ErrorSource {
  readonly field: string;
  readonly pointer: string;
}

/** A refusal in the API's own form. Thrown by whatever knows, answered at the edge. */
export class ApiError extends Error {
  constructor(
    readonly kinds: readonly (ErrorKind & { readonly source?: ErrorSource })[],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(kinds[0]?.message);
  }

  get status(): number {
    return this.kinds[0]?.status ?? 500;
  }

  response(requestId: string): HttpResponse {
    const errors = this.kinds.map(({ status: _, ...kind }) => ({
      ...kind,
      documentation_url: 'https://duffel.com/docs/api/overview/response-handling',
    }));
    return json({ errors, meta: { request_id: requestId, status: this.status } }, this.status, this.headers);
  }
}

const kind = (status: number, type: ErrorType, code: string, title: string, message: string): ErrorKind => ({
  status,
  type,
  code,
  title,
  message,
});

export type KindName = keyof typeof KINDS;

export function refused(name: KindName, headers: Readonly<Record<string, string>> = {}): ApiError {
  const [status, type, title, message] = KINDS[name];
  return new ApiError([kind(status, type, name, title, message)], headers);
}

type FieldCode =
  | 'validation_required'
  | 'validation_format'
  | 'validation_inclusion'
  | 'validation_length'
  | 'validation_type'
  | 'linked_record_not_found'
  | 'passenger_age_mismatch'
  | 'identity_documents_required'
  | 'identity_documents_not_supported';

/** One wrong field of a body or a query. */
export interface Issue {
  /** `passengers/0/given_name` */
  readonly at: string;
  readonly code: FieldCode;
  readonly message: string;
}

export const invalid = (issues: readonly Issue[]): ApiError =>
  new ApiError(
    issues.map(({ at, code, message }) => {
      const field = at.split('/').at(-1) ?? at;
      return {
        ...kind(422, 'validation_error', code, TITLES[code], `Field '${field}' ${message}`),
        source: { field, pointer: `/data/${at}` },
      };
    }),
  );

const TITLES: Record<FieldCode, string> = {
  validation_required: 'Required field',
  validation_format: 'Invalid format',
  validation_inclusion: 'Not one of the allowed values',
  validation_length: 'Invalid length',
  validation_type: 'Invalid type',
  linked_record_not_found: 'Linked record not found',
  passenger_age_mismatch: 'Passenger age mismatch',
  identity_documents_required: 'Identity documents required',
  identity_documents_not_supported: 'Identity documents not supported',
};

const GATEWAYS = { 401: 'Unauthorized', 403: 'Forbidden', 502: 'Bad Gateway' } as const;

/** The answer of a gateway in front of the API, in its own words: a page, or plain text. */
export function ofGateway(status: keyof typeof GATEWAYS, type: 'html' | 'plain' = 'html'): HttpResponse {
  const text = `${status} ${GATEWAYS[status]}`;
  const body = type === 'html' ? `<html><head><title>${text}</title></head><body>${text}</body></html>` : text;
  return new HttpResponse(status, body, { 'content-type': `text/${type}` });
}

const CUT_STATUS = 444;

/** No answer at all: whoever serves the sandbox drops the connection. */
export const cutConnection = (): HttpResponse => new HttpResponse(CUT_STATUS, null);

export const isCut = ({ status }: HttpResponse): boolean => status === CUT_STATUS;
