import type { ProblemCode } from '../../kernel/problems.ts';

/** How answers and failures are written: those of openapi-paths.ts. */
interface Writing {
  answer(status: number, schema: string, description: string, paid: boolean): object;
  failures(codes: readonly ProblemCode[]): object;
  ref(name: string): object;
  json(schema: object): object;
}

interface Call {
  readonly id: string;
  readonly summary: string;
  readonly request?: string;
  readonly response: string;
  readonly status?: number;
  readonly path?: string;
  readonly query?: readonly [string, object][];
  readonly codes?: readonly ProblemCode[];
}

const KEY: ProblemCode[] = ['operator_key_required', 'operator_key_invalid'];
const ANY: ProblemCode[] = ['invalid_request', 'method_not_allowed', 'internal_error'];
const BODY: ProblemCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];
const CASE: ProblemCode[] = ['refund_request_not_found'];
const DECIDING: ProblemCode[] = [...CASE, 'case_already_claimed', 'case_already_decided'];
const TEXT = { type: 'string' };
const LIMIT = { type: 'integer', minimum: 1 };

/** The operator API (CONTRACT, section 8), under the tag operator. */
export function operatorPaths({ answer, failures, ref, json }: Writing): Record<string, object> {
  const operation = (call: Call) => ({
    operationId: call.id,
    tags: ['operator'],
    summary: call.summary,
    security: [{ operatorKey: [] }],
    parameters: [
      ...(call.path ? [{ name: call.path, in: 'path', required: true, schema: TEXT }] : []),
      ...(call.query ?? []).map(([name, schema]) => ({ name, in: 'query', required: false, schema })),
    ],
    ...(call.request ? { requestBody: { required: true, content: json(ref(call.request)) } } : {}),
    responses: {
      ...answer(call.status ?? 200, call.response, 'Done.', false),
      ...failures([...KEY, ...(call.codes ?? []), ...(call.request ? BODY : []), ...ANY]),
    },
  });
  const act = (id: string, summary: string, request: string, codes: readonly ProblemCode[]) => ({
    post: operation({ id, summary, request, response: 'RefundCase', path: 'request_id', codes }),
  });
  const approve = operation({
    id: 'approveRefund',
    summary:
      'Cancel at the airline and pay out; dry_run says what would move. status approved: it is on record, last_error says what holds up the pay-out, and the service goes on with it.',
    request: 'ApproveRequest',
    response: 'RefundCase',
    path: 'request_id',
    codes: [
      ...DECIDING,
      'payout_undecided',
      'payout_is_zero',
      'plan_changed',
      'treasury_insufficient',
      'cluster_failed',
    ],
  });
  const planned = json({ anyOf: [ref('RefundCase'), ref('RefundPlan')] });
  const resolve = operation({
    id: 'resolveStuck',
    summary: 'End what is stuck, by what the airline said; dry_run says what would move.',
    request: 'ResolveRequest',
    response: 'StuckItem',
    path: 'id',
    codes: [
      'stuck_not_found',
      'stuck_already_resolved',
      'decision_not_possible',
      'case_already_claimed',
      'cluster_failed',
    ],
  });
  return {
    '/operator/refund-requests': {
      get: operation({
        id: 'refundQueue',
        summary: 'What waits for a decision, or what has a status.',
        response: 'RefundQueue',
        query: [
          ['status', { enum: ['received', 'approved', 'refunded', 'rejected', 'stuck'] }],
          ['sort', { enum: ['age', 'journey'] }],
          ['limit', LIMIT],
          ['cursor', TEXT],
        ],
      }),
    },
    '/operator/refund-requests/{request_id}': {
      get: operation({
        id: 'refundCase',
        summary: "One case, with the customer's words.",
        response: 'RefundCase',
        path: 'request_id',
        codes: CASE,
      }),
    },
    '/operator/refund-requests/{request_id}/claim': act('claimRefund', 'Take a case.', 'Nothing', DECIDING),
    '/operator/refund-requests/{request_id}/release': act(
      'releaseRefund',
      'Give a case back; force frees one that another operator has.',
      'ReleaseRequest',
      DECIDING,
    ),
    '/operator/refund-requests/{request_id}/note': act('noteRefund', 'Write a note.', 'NoteRequest', CASE),
    '/operator/refund-requests/{request_id}/approve': {
      post: {
        ...approve,
        responses: { ...approve.responses, 200: { description: 'Done.', content: planned } },
      },
    },
    '/operator/refund-requests/{request_id}/reject': act(
      'rejectRefund',
      'Decline, with the reason that the customer is told.',
      'RejectRequest',
      DECIDING,
    ),
    '/operator/stuck': {
      get: operation({ id: 'stuck', summary: 'What waits for a person.', response: 'Stuck' }),
    },
    '/operator/stuck/{id}': {
      get: operation({
        id: 'stuckItem',
        summary: 'One of them: what chain and airline say, and what can be decided.',
        response: 'StuckItem',
        path: 'id',
        codes: ['stuck_not_found', 'cluster_failed'],
      }),
    },
    '/operator/stuck/{id}/resolve': {
      post: {
        ...resolve,
        responses: {
          ...resolve.responses,
          200: { description: 'Done.', content: json({ anyOf: [ref('StuckItem'), ref('StuckPlan')] }) },
        },
      },
    },
    '/operator/switches': {
      get: operation({ id: 'switches', summary: 'The switches.', response: 'Switches' }),
      post: operation({
        id: 'turnSwitches',
        summary: 'Turn switches on or off.',
        request: 'SwitchesRequest',
        response: 'Switches',
      }),
    },
    '/operator/audit': {
      get: operation({
        id: 'audit',
        summary: 'The audit trail, newest first.',
        response: 'AuditTrail',
        query: [
          ['subject', TEXT],
          ['limit', LIMIT],
          ['cursor', TEXT],
        ],
      }),
    },
    '/operator/keys': {
      get: operation({
        id: 'operatorKeys',
        summary: 'The operator keys, oldest first.',
        response: 'OperatorKeys',
        query: [
          ['limit', LIMIT],
          ['cursor', TEXT],
        ],
      }),
      post: operation({
        id: 'issueKey',
        summary: 'Issue a key; it is shown once.',
        request: 'IssueKeyRequest',
        response: 'IssuedKey',
        status: 201,
      }),
    },
    '/operator/keys/{key_id}/revoke': {
      post: operation({
        id: 'revokeKey',
        summary: 'Revoke a key.',
        request: 'Nothing',
        response: 'OperatorKey',
        path: 'key_id',
        codes: ['operator_key_not_found', 'operator_key_last'],
      }),
    },
  };
}
