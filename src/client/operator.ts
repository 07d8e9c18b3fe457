import type { Fetch } from '../kernel/http.ts';
import type {
  ApproveRequest,
  AuditQuery,
  AuditTrail,
  IssuedKey,
  KeysQuery,
  OperatorKey,
  OperatorKeys,
  QueueQueryInput,
  RefundCase,
  RefundPlan,
  RefundQueue,
  RejectionPlan,
  ResolveRequest,
  Stuck,
  StuckEvidence,
  StuckItem,
  StuckPlan,
  Switches,
  SwitchesRequest,
} from '../wire/flights/index.ts';
import { ask, type CallOptions, problemOf, segmentOf } from './base/index.ts';

interface OperatorClientPorts {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** `flk_op_…` */
  readonly key: string;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
}

/** A decision about a case; see the operator API's schema. */
export type Approval = Partial<Omit<ApproveRequest, 'dry_run'>>;

/** A decision about something that is stuck. */
export type Verdict = Omit<ResolveRequest, 'dry_run'>;

/** The operator API, typed. Throws the Problems that the service answers with. */
export function createOperatorClient({ baseUrl, fetch, key, timeoutMs = 30_000 }: OperatorClientPorts) {
  async function call<T>(path: string, options: CallOptions, body?: object): Promise<T> {
    const method = body === undefined ? ('GET' as const) : ('POST' as const);
    const headers = { Authorization: `Bearer ${key}` };
    const sent = { baseUrl, fetch, method, path: `/operator${path}`, headers };
    const answer = await ask(body === undefined ? sent : { ...sent, body }, { timeoutMs, signal: options.signal });
    if (answer.status >= 300) throw problemOf(answer);
    return answer.body as T;
  }
  const queryOf = (query: object): string => {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = new URLSearchParams(given).toString();
    return search && `?${search}`;
  };
  const waiting = (id: string, act = '') => `/stuck/${segmentOf(id)}${act}`;
  const at = (id: string, act = '') => `/refund-requests/${segmentOf(id)}${act}`;

  return {
    queue: (query: QueueQueryInput, options: CallOptions = {}) =>
      call<RefundQueue>(`/refund-requests${queryOf(query)}`, options),
    show: (id: string, options: CallOptions = {}) => call<RefundCase>(at(id), options),
    claim: (id: string, options: CallOptions = {}) => call<RefundCase>(at(id, '/claim'), options, {}),
    release: (id: string, force: boolean, options: CallOptions = {}) =>
      call<RefundCase>(at(id, '/release'), options, { force }),
    note: (id: string, text: string, options: CallOptions = {}) => call<RefundCase>(at(id, '/note'), options, { text }),
    plan: (id: string, approval: Approval, options: CallOptions = {}) =>
      call<RefundPlan>(at(id, '/approve'), options, { ...approval, dry_run: true }),
    approve: (id: string, approval: Approval, options: CallOptions = {}) =>
      call<RefundCase>(at(id, '/approve'), options, approval),
    planRejection: (id: string, reason: string, options: CallOptions = {}) =>
      call<RejectionPlan>(at(id, '/reject'), options, { reason, dry_run: true }),
    reject: (id: string, reason: string, options: CallOptions = {}) =>
      call<RefundCase>(at(id, '/reject'), options, { reason }),
    stuck: (options: CallOptions = {}) => call<Stuck>('/stuck', options),
    stuckItem: (id: string, options: CallOptions = {}) => call<StuckItem>(waiting(id), options),
    stuckEvidence: (id: string, options: CallOptions = {}) => call<StuckEvidence>(waiting(id, '/evidence'), options),
    planResolve: (id: string, verdict: Verdict, options: CallOptions = {}) =>
      call<StuckPlan>(waiting(id, '/resolve'), options, { ...verdict, dry_run: true }),
    resolve: (id: string, verdict: Verdict, options: CallOptions = {}) =>
      call<StuckItem>(waiting(id, '/resolve'), options, verdict),
    switches: (options: CallOptions = {}) => call<Switches>('/switches', options),
    turn: (wanted: SwitchesRequest, options: CallOptions = {}) => call<Switches>('/switches', options, wanted),
    audit: (query: Partial<AuditQuery>, options: CallOptions = {}) =>
      call<AuditTrail>(`/audit${queryOf(query)}`, options),
    keys: (query: Partial<KeysQuery>, options: CallOptions = {}) =>
      call<OperatorKeys>(`/keys${queryOf(query)}`, options),
    issueKey: (name: string, options: CallOptions = {}) => call<IssuedKey>('/keys', options, { name }),
    revokeKey: (keyId: string, options: CallOptions = {}) =>
      call<OperatorKey>(`/keys/${segmentOf(keyId)}/revoke`, options, {}),
  };
}

export type OperatorClient = ReturnType<typeof createOperatorClient>;
