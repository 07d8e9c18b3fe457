import { HttpResponse, json } from '../../kernel/http.ts';
import ERRORS from './errors.json' with { type: 'json' };

type ErrorType =
  | 'authentication_error'
  | 'airline_error'
  | 'invalid_state_error'
  | 'rate_limit_error'
  | 'validation_error'
  | 'invalid_request_error'
  | 'api_error';

/** The documented errors of the API, by their codes: status, type, title and message. */
const KINDS = ERRORS as Record<keyof typeof ERRORS, [number, ErrorType, string, string]>;

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
