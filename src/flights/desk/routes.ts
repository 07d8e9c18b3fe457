import { type Call, type RouteTable, routesOf, schemasOf, type Visit } from '../../http/index.ts';
import { instant } from '../../kernel/clock.ts';
import { headerOf } from '../../kernel/http.ts';
import type { ProblemCode } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type { AuditQuery, AuditTrail, RefundCase, Switches, SwitchesRequest } from '../../wire/flights/index.ts';
import type { By, FlightsPorts, SwitchName } from '../base/index.ts';
import { auditAlone, isOff, SWITCH_NAMES, turnSwitch, writeAudit } from '../base/index.ts';
import {
  approve,
  caseQueue,
  claimCase,
  noteOnCase,
  openCase,
  planApproval,
  planRejection,
  reject,
  releaseCase,
  showCase,
} from '../refunds/index.ts';
import { createOperatorKeys } from './keys.ts';
import { listStuck, resolveStuck, showStuck } from './stuck.ts';

/** Authenticates an operator's call. @throws Problem `operator_key_required`, `operator_key_invalid` */
export const enterDesk =
  (ports: FlightsPorts) =>
  async ({ request, requestId }: Visit): Promise<Desk> => {
    const keys = createOperatorKeys(ports);
    const operator = await keys.authenticate(headerOf(request, 'authorization'));
    return { ports, keys, by: { operator, requestId } };
  };

interface Desk {
  readonly ports: FlightsPorts;
  readonly keys: ReturnType<typeof createOperatorKeys>;
  readonly by: By;
}

const route = routesOf<Desk>();
const wire = schemasOf(() => import('../../wire/flights/desk.ts'));
const DONE = 'Done.';
const DECIDING: readonly ProblemCode[] = ['refund_request_not_found', 'case_already_claimed', 'case_already_decided'];

const shown = async ({ ports }: Desk, id: string): Promise<RefundCase> => showCase(ports, await openCase(ports, id));

async function acted(
  { context, params }: Call<Desk, unknown, unknown, 'request_id'>,
  act: (ports: FlightsPorts, requestId: string, by: By) => Promise<unknown>,
): Promise<RefundCase> {
  const { ports, by } = context;
  const { row } = await openCase(ports, params.request_id);
  await act(ports, row.request_id, by);
  return shown(context, params.request_id);
}

const CASE = { 200: { description: DONE, schema: wire('refundCase') } };

/** The operator API (CONTRACT, section 8); every act is in the audit trail with its request id. */
export const deskRoutes: RouteTable<Desk> = {
  unknown: 'not_found',
  keyFirst: true,
  tag: 'operator',
  security: [['operatorKey']],
  codes: ['operator_key_required', 'operator_key_invalid'],
  routes: [
    route({
      method: 'GET',
      path: '/operator/refund-requests',
      id: 'refundQueue',
      summary: 'List refund requests that wait for a decision, or that have a status.',
      query: wire('queueQuery'),
      answers: { 200: { description: DONE, schema: wire('refundQueue') } },
      async run({ context: { ports, by }, query }) {
        const { looked, ...page } = await aside(ports, (from) => caseQueue(from, query));
        // A search reads the customers' words. Its term may be personal, so it stays out of the trail.
        if (query.search !== undefined) {
          await auditAlone(ports, { ...by, action: 'refund.search', subject: 'refund-requests', detail: { looked } });
        }
        return { ...page, operator: by.operator.name };
      },
    }),
    route({
      method: 'GET',
      path: '/operator/refund-requests/{request_id}',
      id: 'refundCase',
      summary: "Show a case, with the customer's reason.",
      answers: CASE,
      codes: ['refund_request_not_found'],
      async run({ context: { ports, by }, params }) {
        const opened = await openCase(ports, params.request_id);
        // Reading the customer's words is audited, too.
        await auditAlone(ports, { ...by, action: 'refund.show', subject: opened.row.request_id });
        return showCase(ports, opened);
      },
    }),
    route({
      method: 'POST',
      path: '/operator/refund-requests/{request_id}/claim',
      id: 'claimRefund',
      summary: 'Claim a case.',
      body: wire('nothing'),
      answers: CASE,
      codes: DECIDING,
      run: (call) => acted(call, claimCase),
    }),
    route({
      method: 'POST',
      path: '/operator/refund-requests/{request_id}/release',
      id: 'releaseRefund',
      summary: 'Release a case; force releases one that another operator has claimed.',
      body: wire('releaseRequest'),
      answers: CASE,
      codes: DECIDING,
      run: (call) => acted(call, (ports, id, by) => releaseCase(ports, id, by, call.body.force)),
    }),
    route({
      method: 'POST',
      path: '/operator/refund-requests/{request_id}/note',
      id: 'noteRefund',
      summary: 'Add a note to a case.',
      body: wire('noteRequest'),
      answers: CASE,
      codes: ['refund_request_not_found'],
      run: (call) => acted(call, (ports, id, by) => noteOnCase(ports, id, by, call.body.text)),
    }),
    route({
      method: 'POST',
      path: '/operator/refund-requests/{request_id}/approve',
      id: 'approveRefund',
      summary:
        'Cancel with the airline and pay out; dry_run shows what would be paid. With status approved the decision is on record, last_error says what holds up the pay-out, and the service continues with it.',
      body: wire('approveRequest'),
      answers: { 200: { description: DONE, schema: [wire('refundCase'), wire('refundPlan')] } },
      codes: [
        ...DECIDING,
        'payout_undecided',
        'payout_is_zero',
        'plan_changed',
        'treasury_insufficient',
        'database_behind',
        'cluster_failed',
        // Asks the airline for its quote.
        'provider_failed',
        'upstream_rate_limited',
      ],
      async run({ context, params, body }) {
        const { ports, by } = context;
        if (body.dry_run) return planApproval(ports, await openCase(ports, params.request_id), by, body);
        await approve(ports, params.request_id, by, body);
        return shown(context, params.request_id);
      },
    }),
    route({
      method: 'POST',
      path: '/operator/refund-requests/{request_id}/reject',
      id: 'rejectRefund',
      summary: 'Reject, with a reason for the customer; dry_run shows the e-mail.',
      body: wire('rejectRequest'),
      answers: { 200: { description: DONE, schema: [wire('refundCase'), wire('rejectionPlan')] } },
      codes: [...DECIDING, 'ticket_already_cancelled', 'database_behind', 'provider_failed', 'upstream_rate_limited'],
      async run({ context, params, body }) {
        const { ports, by } = context;
        if (body.dry_run) return planRejection(ports, await openCase(ports, params.request_id), by, body.reason);
        await reject(ports, params.request_id, by, body.reason);
        return shown(context, params.request_id);
      },
    }),
    route({
      method: 'GET',
      path: '/operator/stuck',
      id: 'stuck',
      summary: 'List what waits for an operator.',
      answers: { 200: { description: DONE, schema: wire('stuck') } },
      run: ({ context }) => aside(context.ports, listStuck),
    }),
    route({
      method: 'GET',
      path: '/operator/stuck/{id}',
      id: 'stuckItem',
      summary: 'Show one: what the chain and the airline say, and what can be decided.',
      answers: { 200: { description: DONE, schema: wire('stuckItem') } },
      codes: ['stuck_not_found', 'cluster_failed'],
      run: ({ context, params }) => showStuck(context.ports, params.id),
    }),
    route({
      method: 'GET',
      path: '/operator/stuck/{id}/evidence',
      id: 'stuckEvidence',
      summary:
        "Show how a carrier's web site looked where visits for an intent, a refund request, an offer or a route ended, without personal data; kept 30 days.",
      answers: { 200: { description: DONE, schema: wire('stuckEvidence') } },
      codes: ['stuck_not_found'],
      run: async ({ context: { ports, by }, params }) =>
        (await import('./stuck-evidence.ts')).stuckEvidence(ports, params.id, by),
    }),
    route({
      method: 'POST',
      path: '/operator/stuck/{id}/resolve',
      id: 'resolveStuck',
      summary: 'Resolve what is stuck, by what the airline said; dry_run shows what would be paid.',
      body: wire('resolveRequest'),
      answers: { 200: { description: DONE, schema: [wire('stuckItem'), wire('stuckPlan')] } },
      codes: [
        'stuck_not_found',
        'stuck_already_resolved',
        'decision_not_possible',
        'case_already_claimed',
        'database_behind',
        'cluster_failed',
        // A resolved refund goes on with its approval.
        'plan_changed',
        'provider_failed',
        'upstream_rate_limited',
      ],
      run: ({ context: { ports, by }, params, body }) => resolveStuck(ports, params.id, by, body),
    }),
    route({
      method: 'GET',
      path: '/operator/switches',
      id: 'switches',
      summary: 'Show the switches.',
      answers: { 200: { description: DONE, schema: wire('switches') } },
      run: ({ context }) => switches(context.ports),
    }),
    route({
      method: 'POST',
      path: '/operator/switches',
      id: 'turnSwitches',
      summary: 'Turn switches on or off.',
      body: wire('switchesRequest'),
      answers: { 200: { description: DONE, schema: wire('switches') } },
      run: ({ context: { ports, by }, body }) => turn(ports, by, body),
    }),
    route({
      method: 'GET',
      path: '/operator/audit',
      id: 'audit',
      summary: 'List what operators did, newest first.',
      query: wire('auditQuery'),
      answers: { 200: { description: DONE, schema: wire('auditTrail') } },
      run: ({ context, query }) => aside(context.ports, (from) => audit(from, query)),
    }),
    route({
      method: 'GET',
      path: '/operator/keys',
      id: 'operatorKeys',
      summary: 'List the operator keys, oldest first.',
      query: wire('keysQuery'),
      answers: { 200: { description: DONE, schema: wire('operatorKeys') } },
      run: ({ context, query }) => context.keys.list(query),
    }),
    route({
      method: 'POST',
      path: '/operator/keys',
      id: 'issueKey',
      summary: 'Issue an operator key; it is shown once.',
      body: wire('issueKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('issuedKey') } },
      run: ({ context: { keys, by }, body }) => keys.issue(by.operator, body.name, by.requestId),
    }),
    route({
      method: 'POST',
      path: '/operator/keys/{key_id}/revoke',
      id: 'revokeKey',
      summary: 'Revoke an operator key.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('operatorKey') } },
      codes: ['operator_key_not_found', 'operator_key_last'],
      run: ({ context: { keys, by }, params }) => keys.revoke(by.operator, params.key_id, by.requestId),
    }),
  ],
};

/** Reads a list that may be seconds old. */
const aside = <T>(ports: FlightsPorts, list: (from: FlightsPorts) => Promise<T>): Promise<T> =>
  ports.reads ? ports.reads((store) => list({ ...ports, store })) : list(ports);

async function switches(ports: FlightsPorts): Promise<Switches> {
  const standing = async (name: SwitchName) => ((await isOff(ports, name)) ? 'off' : 'on');
  return { booking: await standing('booking'), lowcost: await standing('lowcost') };
}

async function turn(ports: FlightsPorts, by: By, request: SwitchesRequest): Promise<Switches> {
  await inTurn(ports.store, ['switches'], async (tx) => {
    for (const name of SWITCH_NAMES) {
      const wanted = request[name];
      if (wanted === undefined) continue;
      await turnSwitch(tx, name, wanted);
      await writeAudit(tx, ports, { ...by, action: `switch.${name}`, subject: name, detail: { to: wanted } });
    }
  });
  return switches(ports);
}

async function audit({ store }: FlightsPorts, { subject, limit, cursor }: AuditQuery): Promise<AuditTrail> {
  const rows = await store
    .selectFrom('operator_audit')
    .selectAll()
    .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
    .where('audit_id', '>', '')
    .$if(cursor !== undefined, (query) => query.where('audit_id', '<', cursor ?? ''))
    .orderBy('audit_id', 'desc')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return {
    entries: page.map(({ at_ms, operator_name: operator, detail, ...row }) => ({
      ...row,
      at: instant(at_ms),
      operator,
      detail: JSON.parse(detail) as Record<string, unknown>,
    })),
    next_cursor: rows.length > limit ? (page.at(-1)?.audit_id ?? null) : null,
  };
}
