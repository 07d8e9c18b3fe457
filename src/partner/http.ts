import { isProblem, type Problem, problem } from '../kernel/problems.ts';
import { storeTrouble } from '../store/trouble.ts';
import { storageFields } from '../store/watch.ts';
import { readMessage } from './body.ts';
import type { Call, Procedure } from './call.ts';
import { connectFailure } from './connect-errors.ts';
import { authenticatePartner } from './credentials.ts';
import { createAnswers, idempotencyOf } from './idempotency.ts';
import type { PartnerPorts } from './ports.ts';
import type { Procedures } from './procedures.ts';
import { authenticateCustomer } from './tokens.ts';

/** What the HTTP server knows of a connection; never read from the request itself. */
export interface Connection {
  readonly clientAddress?: string | undefined;
  readonly publicUrl?: string | undefined;
}

const PROCEDURE_PATH = /^\/([^/]+)\.core\.v1\.(partner|customer)\.Service\/([^/]*)$/;

/**
 * The procedures over HTTP, in Connect's unary form with the JSON codec (CONTRACT, section 10). This file only
 * translates: who calls is settled before the body is read, and what is answered is the procedure's business.
 */
export function createPartnerHttp(ports: PartnerPorts, procedures: Procedures) {
  const answers = createAnswers(ports);

  async function answer(request: Request, connection: Connection, requestId: string): Promise<Response> {
    const { pathname } = new URL(request.url);
    const match = PROCEDURE_PATH.exec(pathname);
    const operation = `${match?.[2]}/${match?.[3]}`;
    if (match?.[1] !== ports.serviceName || !procedures.has(operation)) throw problem('unknown_procedure');
    if (request.method !== 'POST') throw problem('method_not_allowed', { detail: { allow: ['POST'] } });
    refuseQuery(request.url);
    checkConnectHeaders(request.headers);
    const partner = await authenticatePartner(ports, request.headers.get('x-api-key'));
    const called = await procedures.find(operation);
    const customerId =
      called.concerns === 'customer'
        ? await authenticateCustomer(ports, request.headers.get('authorization'), partner.partnerId)
        : null;
    const { input, run } = await called.read((schema) => readMessage(request, schema, called.mostBodyBytes));
    const idempotency = called.writes
      ? idempotencyOf(
          ports,
          request.headers.get('idempotency-key'),
          `${partner.partnerId} ${customerId ?? ''}`,
          operation,
          {
            input,
            ifMatch: request.headers.get('if-match'),
          },
        )
      : null;
    const call: Call = {
      partner,
      customerId,
      requestId,
      headers: request.headers,
      clientAddress: connection.clientAddress,
      nowMs: ports.clock.now(),
      idempotency,
      write: (work) => answers.write(idempotency, work),
    };
    const first = idempotency && (await answers.recall(idempotency));
    const body = first ?? (await run(call));
    return Response.json(body, { headers: headersOf(called, body) });
  }

  /** Answers a request for a procedure's path. Never throws. */
  return async function fetchProcedure(request: Request, connection: Connection = {}): Promise<Response> {
    const requestId = ports.ids.next('req');
    const response = await answer(request, connection, requestId).catch((error: unknown) =>
      connectFailure(problemOf(ports, error, request, requestId)),
    );
    response.headers.set('X-Request-Id', requestId);
    response.headers.set('Cache-Control', 'no-store');
    return response;
  };
}

const headersOf = (called: Procedure, body: object): Record<string, string> => called.headers?.(body) ?? {};

/** What was not expected is logged by its kind, and says nothing of the inside. */
export function problemOf(
  { log }: Pick<PartnerPorts, 'log'>,
  error: unknown,
  request: Request,
  requestId: string,
): Problem {
  const trouble = storeTrouble(error);
  if (!trouble && isProblem(error) && error.kind.status !== undefined) return error;
  log('error', 'request_failed', {
    request_id: requestId,
    path: new URL(request.url).pathname.split('/').slice(0, 3).join('/').slice(0, 120),
    ...storageFields(error),
  });
  return trouble ?? problem('internal_error');
}

/** Connect's own headers: both may be missing, and a version that is not ours is refused. */
function checkConnectHeaders(headers: Headers): void {
  const version = headers.get('connect-protocol-version');
  if (version !== null && version !== '1')
    throw refusedHeader('Connect-Protocol-Version', 'is 1, or left out.');
  const timeout = headers.get('connect-timeout-ms');
  if (timeout !== null && !/^\d{1,10}$/.test(timeout))
    throw refusedHeader('Connect-Timeout-Ms', 'is a number of milliseconds of at most ten digits.');
}

const refusedHeader = (path: string, message: string) =>
  problem('invalid_request', { detail: { issues: [{ path, message }] } });

/** A field in the query would be ignored in silence: refused, naming it. */
export function refuseQuery(url: string): void {
  const names = [...new Set(new URL(url).searchParams.keys())];
  if (names.length === 0) return;
  throw problem('invalid_request', {
    detail: { issues: names.map((path) => ({ path, message: 'is not a known query parameter.' })) },
  });
}
