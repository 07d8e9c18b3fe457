import { problem, problemBody } from '../../kernel/problems.ts';
import { readJson } from '../body.ts';
import { problemOf, refuseQuery } from '../http.ts';
import type { PartnerPorts } from '../ports.ts';
import { mintToken } from '../tokens.ts';
import { createPartnerKeys, type Doing } from './accounts.ts';
import { createPartners } from './partners.ts';
import * as schemas from './schema.ts';

interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  /** `{id}` stands for one segment. */
  readonly path: RegExp;
  readonly status?: number;
  run(by: Doing, request: Request, id: string): Promise<object>;
}

/**
 * The operator's desk of the partner service: partners, their keys, customers and their tokens. snake_case and
 * Farelock's own errors, as everything under /operator; every act is in the audit trail.
 */
export function createPartnerDesk(ports: PartnerPorts) {
  const { ids, desk, store } = ports;
  const keys = createPartnerKeys(ports);
  const partners = createPartners(ports);
  const attestations = async () => (await import('./attestation-desk.ts')).createAttestationDesk(ports);

  const routes: readonly OperatorRoute[] = [
    { method: 'GET', path: /^\/partners$/, run: () => partners.list() },
    {
      method: 'POST',
      path: /^\/partners$/,
      async run(by, request) {
        return partners.put(by, await readJson(request, schemas.putPartnerRequest));
      },
    },
    {
      method: 'GET',
      path: /^\/partners\/outbound\/([^/]+)$/,
      run: async (by, _request, id) =>
        (await import('../outbound/outbound-desk.ts')).createOutboundDesk(ports).look(by, id),
    },
    {
      method: 'POST',
      path: /^\/customers$/,
      status: 201,
      async run(by, request) {
        return partners.createCustomer(by, await readJson(request, schemas.createCustomerRequest));
      },
    },
    { method: 'GET', path: /^\/partner-keys$/, run: () => keys.list() },
    {
      method: 'POST',
      path: /^\/partner-keys$/,
      status: 201,
      async run(by, request) {
        const { partner_id, name } = await readJson(request, schemas.issuePartnerKeyRequest);
        return keys.issue(by, partner_id, name);
      },
    },
    {
      method: 'POST',
      path: /^\/partner-keys\/([^/]+)\/revoke$/,
      async run(by, request, id) {
        await readJson(request, schemas.nothing);
        return keys.revoke(by, id);
      },
    },
    {
      method: 'POST',
      path: /^\/partner-keys\/([^/]+)\/rotate$/,
      status: 201,
      async run(by, request, id) {
        const { overlap_hours } = await readJson(request, schemas.rotatePartnerKeyRequest);
        return keys.rotate(by, id, overlap_hours);
      },
    },
    { method: 'GET', path: /^\/attestations$/, run: async () => (await attestations()).list() },
    {
      method: 'GET',
      path: /^\/attestations\/([^/]+)$/,
      run: async (by, _request, id) => (await attestations()).look(by, id),
    },
    {
      method: 'POST',
      path: /^\/attestations\/([^/]+)\/decide$/,
      async run(by, request, id) {
        const { verdict } = await readJson(request, schemas.decideAttestationRequest);
        return (await attestations()).decide(by, id, verdict);
      },
    },
    {
      method: 'POST',
      path: /^\/customer-tokens$/,
      status: 201,
      async run(by, request) {
        const { customer_id, ttl_minutes } = await readJson(request, schemas.customerTokenRequest);
        return store.transaction().execute(async (tx) => {
          const lifeMs = ttl_minutes === undefined ? undefined : ttl_minutes * 60_000;
          const minted = await mintToken(ports, tx, customer_id, lifeMs);
          await desk.audit(tx, { ...by, action: 'customer_token.issue', subject: customer_id });
          return minted;
        });
      },
    },
  ];

  async function answer(request: Request, requestId: string): Promise<Response> {
    const operator = await desk.authenticate(request.headers.get('authorization'));
    const path = new URL(request.url).pathname.replace(/^\/operator/, '');
    const matching = routes.filter((route) => route.path.test(path));
    const found = matching.find((route) => route.method === request.method);
    if (matching.length === 0) throw problem('not_found');
    if (!found)
      throw problem('method_not_allowed', { detail: { allow: matching.map(({ method }) => method) } });
    refuseQuery(request.url);
    const id = found.path.exec(path)?.[1] ?? '';
    const body = await found.run({ operator, requestId }, request, id);
    return Response.json(body, { status: found.status ?? 200 });
  }

  /** Answers /operator/partners, /partner-keys, /customers, /customer-tokens and /attestations. */
  return async function operate(request: Request): Promise<Response> {
    const requestId = ids.next('req');
    const response = await answer(request, requestId).catch((thrown: unknown) =>
      farelockFailure(ports, thrown, request, requestId),
    );
    response.headers.set('X-Request-Id', requestId);
    response.headers.set('Cache-Control', 'no-store');
    return response;
  };
}

/** A problem in Farelock's own form: `{ code, message, detail? }` with the catalogue's code. */
export function farelockFailure(
  ports: Pick<PartnerPorts, 'log'>,
  thrown: unknown,
  request: Request,
  requestId: string,
): Response {
  const error = problemOf(ports, thrown, request, requestId);
  const allow = error.detail?.allow;
  return Response.json(problemBody(error), {
    status: error.status,
    headers: {
      ...(Array.isArray(allow) ? { Allow: allow.join(', ') } : {}),
      ...(error.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}),
    },
  });
}
