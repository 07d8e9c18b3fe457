import type * as z from 'zod';
import { problem } from '../../kernel/problems.ts';
import { issuesOf, readBody, refuseQuery } from '../body.ts';
import type { FlightsPorts } from '../ports.ts';
import { createRefundCases } from '../refunds/cases.ts';
import { createRefundDecisions } from '../refunds/decisions.ts';
import { type Operator, writeAudit } from './audit.ts';
import { createControls } from './controls.ts';
import { createOperatorKeys } from './keys.ts';
import * as schemas from './schema.ts';
import { createStuck } from './stuck.ts';
import { resolveRequest } from './stuck-schema.ts';

interface Visit {
  readonly request: Request;
  readonly operator: Operator;
  readonly requestId: string;
  /** What stands for `{…}` in the path. */
  readonly id: string;
}

interface OperatorRoute {
  readonly method: 'GET' | 'POST';
  /** Below /operator; one segment may be `{id}`. */
  readonly path: string;
  readonly status?: number;
  run(visit: Visit): Promise<unknown>;
}

const CASE = '/refund-requests/{request_id}';

/**
 * The operator API (CONTRACT, section 8). Every call carries a bearer key; every act is in the audit trail with its
 * request id. Loaded with the first call to /operator.
 */
export function createOperatorApi(ports: FlightsPorts) {
  const keys = createOperatorKeys(ports);
  const cases = createRefundCases(ports);
  const decisions = createRefundDecisions(ports, cases);
  const controls = createControls(ports);
  const stuck = createStuck(ports, cases, decisions);

  const shown = async (id: string) => cases.show(await cases.open(id));
  const requestIdOf = async (id: string) => (await cases.open(id)).row.request_id;

  const routes: readonly OperatorRoute[] = [
    {
      method: 'GET',
      path: '/refund-requests',
      run: ({ request }) => cases.queue(readQuery(request, schemas.queueQuery)),
    },
    {
      method: 'GET',
      path: CASE,
      async run({ id, operator, requestId }) {
        const opened = await cases.open(id);
        // Reading the customer's words is an act too.
        await ports.store.transaction().execute((tx) =>
          writeAudit(tx, ports, {
            operator,
            action: 'refund.show',
            subject: opened.row.request_id,
            requestId,
          }),
        );
        return cases.show(opened);
      },
    },
    {
      method: 'POST',
      path: `${CASE}/claim`,
      async run(visit) {
        await readBody(visit.request, schemas.claimRequest);
        await decisions.claim(await requestIdOf(visit.id), visit);
        return shown(visit.id);
      },
    },
    {
      method: 'POST',
      path: `${CASE}/release`,
      async run(visit) {
        const { force } = await readBody(visit.request, schemas.releaseRequest);
        await decisions.release(await requestIdOf(visit.id), visit, force);
        return shown(visit.id);
      },
    },
    {
      method: 'POST',
      path: `${CASE}/note`,
      async run(visit) {
        const { text } = await readBody(visit.request, schemas.noteRequest);
        await decisions.note(await requestIdOf(visit.id), visit, text);
        return shown(visit.id);
      },
    },
    {
      method: 'POST',
      path: `${CASE}/approve`,
      async run(visit) {
        const body = await readBody(visit.request, schemas.approveRequest);
        if (body.dry_run) return decisions.plan(await cases.open(visit.id), body);
        await decisions.approve(visit.id, visit, body);
        return shown(visit.id);
      },
    },
    {
      method: 'POST',
      path: `${CASE}/reject`,
      async run(visit) {
        const { reason } = await readBody(visit.request, schemas.rejectRequest);
        await decisions.reject(visit.id, visit, reason);
        return shown(visit.id);
      },
    },
    { method: 'GET', path: '/stuck', run: () => stuck.list() },
    { method: 'GET', path: '/stuck/{id}', run: ({ id }) => stuck.show(id) },
    {
      method: 'POST',
      path: '/stuck/{id}/resolve',
      run: async (visit) => stuck.resolve(visit.id, visit, await readBody(visit.request, resolveRequest)),
    },
    { method: 'GET', path: '/switches', run: () => controls.switches() },
    {
      method: 'POST',
      path: '/switches',
      run: async (visit) => controls.turn(visit, await readBody(visit.request, schemas.switchesRequest)),
    },
    {
      method: 'GET',
      path: '/audit',
      run: ({ request }) => controls.audit(readQuery(request, schemas.auditQuery)),
    },
    {
      method: 'GET',
      path: '/keys',
      run: ({ request }) => keys.list(readQuery(request, schemas.keysQuery)),
    },
    {
      method: 'POST',
      path: '/keys',
      status: 201,
      async run({ request, operator, requestId }) {
        const { name } = await readBody(request, schemas.issueKeyRequest);
        return keys.issue(operator, name, requestId);
      },
    },
    {
      method: 'POST',
      path: '/keys/{key_id}/revoke',
      async run({ request, operator, requestId, id }) {
        await readBody(request, schemas.nothing);
        return keys.revoke(operator, id, requestId);
      },
    },
  ];

  /** @throws Problem of the operator's key first, then `not_found`, `method_not_allowed`, and those of the call */
  return async function operate(request: Request, requestId: string): Promise<Response> {
    const operator = await keys.authenticate(request.headers.get('authorization'));
    const path = new URL(request.url).pathname.replace(/^\/operator/, '');
    const matching = routes.flatMap((route) => {
      const id = idIn(route.path, path);
      return id === null ? [] : [{ route, id }];
    });
    if (matching.length === 0) throw problem('not_found');
    const found = matching.find(({ route }) => route.method === request.method);
    if (!found) {
      throw problem('method_not_allowed', { detail: { allow: matching.map(({ route }) => route.method) } });
    }
    if (request.method !== 'GET' || !TAKES_QUERY.has(found.route.path)) refuseQuery(request.url);
    const body = await found.route.run({ request, operator, requestId, id: found.id });
    return Response.json(body, { status: found.route.status ?? 200 });
  };
}

const TAKES_QUERY = new Set(['/refund-requests', '/audit', '/keys']);

/** What stands for `{…}`, an empty text where nothing does, or null where the path is another one. */
function idIn(pattern: string, path: string): string | null {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (wanted.length !== given.length) return null;
  let id = '';
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith('{')) id = given[index] ?? '';
    else if (part !== given[index]) return null;
  }
  return id === '' && pattern.includes('{') ? null : id;
}

/** @throws Problem `invalid_request`, also for a parameter that is given twice */
function readQuery<S extends z.ZodType>(request: Request, schema: S): z.output<S> {
  const given = new URL(request.url).searchParams;
  const names = [...new Set(given.keys())];
  const twice = names.filter((name) => given.getAll(name).length > 1);
  if (twice.length > 0) {
    throw problem('invalid_request', {
      detail: { issues: twice.map((path) => ({ path, message: 'is given twice.' })) },
    });
  }
  const parsed = schema.safeParse(Object.fromEntries(given));
  if (!parsed.success) throw problem('invalid_request', { detail: { issues: issuesOf(parsed.error) } });
  return parsed.data;
}
