import type { Fetch } from '../kernel/http.ts';
import type {
  AttestationRecord,
  AttestationRecords,
  CustomerToken,
  DecideAttestation,
  IssuedPartnerKey,
  OpenedAttestation,
  PartnerKey,
  PartnerKeys,
  PartnerRecords,
} from '../wire/partner/index.ts';
import { ask, type CallOptions, problemOf, segmentOf } from './base/index.ts';

interface PartnerDeskPorts {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** `flk_op_…` */
  readonly operatorKey: string;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
}

/** The operators' desk for partners: keys, customer tokens, attestations. Throws the service's Problems. */
export function createPartnerDesk({ baseUrl, fetch, operatorKey, timeoutMs = 30_000 }: PartnerDeskPorts) {
  async function call<T>(path: string, options: CallOptions, body?: object): Promise<T> {
    const sent = {
      baseUrl,
      fetch,
      method: body === undefined ? ('GET' as const) : ('POST' as const),
      path: `/operator${path}`,
      headers: { Authorization: `Bearer ${operatorKey}` },
    };
    const answer = await ask(body === undefined ? sent : { ...sent, body }, { timeoutMs, signal: options.signal });
    if (answer.status >= 300) throw problemOf(answer);
    return answer.body as T;
  }
  const at = (keyId: string, act: string) => `/partner-keys/${segmentOf(keyId)}/${act}`;

  return {
    partners: (options: CallOptions = {}) => call<PartnerRecords>('/partners', options),
    keys: (options: CallOptions = {}) => call<PartnerKeys>('/partner-keys', options),
    issueKey: (partnerId: string, name: string, options: CallOptions = {}) =>
      call<IssuedPartnerKey>('/partner-keys', options, { partner_id: partnerId, name }),
    revokeKey: (keyId: string, options: CallOptions = {}) => call<PartnerKey>(at(keyId, 'revoke'), options, {}),
    /** The old key goes on for `overlapHours`, so that nothing is cut off while the new one is put in place. */
    rotateKey: (keyId: string, overlapHours: number, options: CallOptions = {}) =>
      call<IssuedPartnerKey>(at(keyId, 'rotate'), options, { overlap_hours: overlapHours }),
    attestations: (options: CallOptions = {}) => call<AttestationRecords>('/attestations', options),
    /** With the customer data that it is about; the look is in the audit trail. */
    attestation: (attestationId: string, options: CallOptions = {}) =>
      call<OpenedAttestation>(`/attestations/${segmentOf(attestationId)}`, options),
    decideAttestation: (attestationId: string, decision: DecideAttestation, options: CallOptions = {}) =>
      call<AttestationRecord>(`/attestations/${segmentOf(attestationId)}/decide`, options, decision),
    customerToken: (customerId: string, ttlMinutes: number | undefined, options: CallOptions = {}) =>
      call<CustomerToken>('/customer-tokens', options, {
        customer_id: customerId,
        ...(ttlMinutes === undefined ? {} : { ttl_minutes: ttlMinutes }),
      }),
  };
}

export type PartnerDesk = ReturnType<typeof createPartnerDesk>;
