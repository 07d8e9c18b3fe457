import type { Fetch } from '../kernel/http.ts';
import type * as flights from '../wire/flights/index.ts';
import type * as partner from '../wire/partner/index.ts';
import { ask, type CallOptions, problemOf, segmentOf } from './base/index.ts';

interface DeskPorts {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly key: string;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
}

/** Calls an operators' desk. @throws the service's Problems */
const deskCalls =
  ({ baseUrl, fetch, key, timeoutMs = 30_000 }: DeskPorts) =>
  async <T>(path: string, options: CallOptions, body?: object): Promise<T> => {
    const headers = { Authorization: `Bearer ${key}` };
    const sent = { baseUrl, fetch, path: `/operator${path}`, headers };
    const call = body === undefined ? { ...sent, method: 'GET' as const } : { ...sent, method: 'POST' as const, body };
    const answer = await ask(call, { timeoutMs, signal: options.signal });
    if (answer.status >= 300) throw problemOf(answer);
    return answer.body as T;
  };

function queryOf(query: object): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return search && `?${search}`;
}

export type Approval = Partial<Omit<flights.ApproveRequest, 'dry_run'>>;

export type Verdict = Omit<flights.ResolveRequest, 'dry_run'>;

export type OperatorClient = ReturnType<typeof createOperatorClient>;

export function createOperatorClient(ports: DeskPorts) {
  const call = deskCalls(ports);
  const waiting = (id: string, act = '') => `/stuck/${segmentOf(id)}${act}`;
  const at = (id: string, act = '') => `/refund-requests/${segmentOf(id)}${act}`;

  return {
    queue: (query: flights.QueueQueryInput, options: CallOptions = {}) =>
      call<flights.RefundQueue>(`/refund-requests${queryOf(query)}`, options),
    show: (id: string, options: CallOptions = {}) => call<flights.RefundCase>(at(id), options),
    claim: (id: string, options: CallOptions = {}) => call<flights.RefundCase>(at(id, '/claim'), options, {}),
    release: (id: string, force: boolean, options: CallOptions = {}) =>
      call<flights.RefundCase>(at(id, '/release'), options, { force }),
    note: (id: string, text: string, options: CallOptions = {}) =>
      call<flights.RefundCase>(at(id, '/note'), options, { text }),
    plan: (id: string, approval: Approval, options: CallOptions = {}) =>
      call<flights.RefundPlan>(at(id, '/approve'), options, { ...approval, dry_run: true }),
    approve: (id: string, approval: Approval, options: CallOptions = {}) =>
      call<flights.RefundCase>(at(id, '/approve'), options, approval),
    planRejection: (id: string, reason: string, options: CallOptions = {}) =>
      call<flights.RejectionPlan>(at(id, '/reject'), options, { reason, dry_run: true }),
    reject: (id: string, reason: string, options: CallOptions = {}) =>
      call<flights.RefundCase>(at(id, '/reject'), options, { reason }),
    stuck: (options: CallOptions = {}) => call<flights.Stuck>('/stuck', options),
    stuckItem: (id: string, options: CallOptions = {}) => call<flights.StuckItem>(waiting(id), options),
    stuckEvidence: (id: string, options: CallOptions = {}) =>
      call<flights.StuckEvidence>(waiting(id, '/evidence'), options),
    planResolve: (id: string, verdict: Verdict, options: CallOptions = {}) =>
      call<flights.StuckPlan>(waiting(id, '/resolve'), options, { ...verdict, dry_run: true }),
    resolve: (id: string, verdict: Verdict, options: CallOptions = {}) =>
      call<flights.StuckItem>(waiting(id, '/resolve'), options, verdict),
    switches: (options: CallOptions = {}) => call<flights.Switches>('/switches', options),
    turn: (wanted: flights.SwitchesRequest, options: CallOptions = {}) =>
      call<flights.Switches>('/switches', options, wanted),
    audit: (query: Partial<flights.AuditQuery>, options: CallOptions = {}) =>
      call<flights.AuditTrail>(`/audit${queryOf(query)}`, options),
    keys: (query: Partial<flights.KeysQuery>, options: CallOptions = {}) =>
      call<flights.OperatorKeys>(`/keys${queryOf(query)}`, options),
    issueKey: (name: string, options: CallOptions = {}) => call<flights.IssuedKey>('/keys', options, { name }),
    revokeKey: (keyId: string, options: CallOptions = {}) =>
      call<flights.OperatorKey>(`/keys/${segmentOf(keyId)}/revoke`, options, {}),
  };
}

export type PartnerDesk = ReturnType<typeof createPartnerDesk>;

export function createPartnerDesk(ports: DeskPorts) {
  const call = deskCalls(ports);
  const at = (keyId: string, act: string) => `/partner-keys/${segmentOf(keyId)}/${act}`;

  return {
    partners: (options: CallOptions = {}) => call<partner.PartnerRecords>('/partners', options),
    keys: (options: CallOptions = {}) => call<partner.PartnerKeys>('/partner-keys', options),
    issueKey: (partnerId: string, name: string, options: CallOptions = {}) =>
      call<partner.IssuedPartnerKey>('/partner-keys', options, { partner_id: partnerId, name }),
    revokeKey: (keyId: string, options: CallOptions = {}) => call<partner.PartnerKey>(at(keyId, 'revoke'), options, {}),
    /** The old key works for `overlapHours` more, while the new one is deployed. */
    rotateKey: (keyId: string, overlapHours: number, options: CallOptions = {}) =>
      call<partner.IssuedPartnerKey>(at(keyId, 'rotate'), options, { overlap_hours: overlapHours }),
    attestations: (options: CallOptions = {}) => call<partner.AttestationRecords>('/attestations', options),
    /** Includes customer data; the audit trail records the look. */
    attestation: (attestationId: string, options: CallOptions = {}) =>
      call<partner.OpenedAttestation>(`/attestations/${segmentOf(attestationId)}`, options),
    decideAttestation: (attestationId: string, decision: partner.DecideAttestation, options: CallOptions = {}) =>
      call<partner.AttestationRecord>(`/attestations/${segmentOf(attestationId)}/decide`, options, decision),
    customerToken: (customerId: string, ttlMinutes: number | undefined, options: CallOptions = {}) =>
      call<partner.CustomerToken>('/customer-tokens', options, {
        customer_id: customerId,
        ...(ttlMinutes === undefined ? {} : { ttl_minutes: ttlMinutes }),
      }),
  };
}
