import { HttpResponse, json } from '../../kernel/http.ts';
import ERRORS from './errors.json' with { type: 'json' };
import TITLES from './titles.json' with { type: 'json' };

/** The documented errors by code: status, type, title and message. */
const KINDS = ERRORS as Record<keyof typeof ERRORS, [number, string, string, string]>;

export type KindName = keyof typeof KINDS;

interface ErrorKind {
  readonly type: string;
  readonly code: string;
  readonly title: string;
  readonly message: string;
  readonly source?: { readonly field: string; readonly pointer: string };
}

/** The API's refusal, thrown anywhere and answered at the edge. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kinds: readonly ErrorKind[],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(kinds[0]?.message);
  }

  response(requestId: string): HttpResponse {
    const documentation_url = 'https://duffel.com/docs/api/overview/response-handling';
    const errors = this.kinds.map((kind) => ({ ...kind, documentation_url }));
    return json({ errors, meta: { request_id: requestId, status: this.status } }, this.status, this.headers);
  }
}

export function refused(code: KindName, headers: Readonly<Record<string, string>> = {}): ApiError {
  const [status, type, title, message] = KINDS[code];
  return new ApiError(status, [{ type, code, title, message }], headers);
}

/** A fault in a field such as `passengers/0/given_name`. */
export type Issue = readonly [at: string, code: keyof typeof TITLES, message: string];

export const invalid = (...issues: readonly Issue[]): ApiError =>
  new ApiError(
    422,
    issues.map(([at, code, what]) => {
      const field = at.split('/').at(-1) ?? at;
      const [title, message] = [TITLES[code], `Field '${field}' ${what}`];
      return { type: 'validation_error', code, title, message, source: { field, pointer: `/data/${at}` } };
    }),
  );

const GATEWAYS = { 401: 'Unauthorized', 403: 'Forbidden', 502: 'Bad Gateway' } as const;

export function ofGateway(status: keyof typeof GATEWAYS, type: 'html' | 'plain' = 'html'): HttpResponse {
  const text = `${status} ${GATEWAYS[status]}`;
  const body = type === 'html' ? `<html><head><title>${text}</title></head><body>${text}</body></html>` : text;
  return new HttpResponse(status, body, { 'content-type': `text/${type}` });
}

const CUT_STATUS = 444;

/** The sign to drop the connection without an answer. */
export const cutConnection = (): HttpResponse => new HttpResponse(CUT_STATUS, null);

export const isCut = ({ status }: HttpResponse): boolean => status === CUT_STATUS;
