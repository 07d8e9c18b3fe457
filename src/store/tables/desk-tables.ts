import type { Generated } from 'kysely';

/**
 * `settling`: written before its payment is settled. `received`: waits for an operator. `approved`: the airline is
 * told and the money paid out, by the worker when need be; then `refunded`. `stuck` waits for a person.
 */
export type RefundRequestState = 'settling' | 'received' | 'approved' | 'refunded' | 'rejected' | 'stuck';

/** Customers' refund requests. At most one open request per intent: `open_key` is unique. */
export interface RefundRequestTable {
  request_id: string;
  intent_id: string;
  /** The intent while the request is open or was granted, else null. */
  open_key: string | null;
  payment_key: string;
  state: RefundRequestState;
  /** The customer's words, sealed; empty once purged. */
  reason_sealed: string;
  contact_sealed: string | null;
  /** Day of the first departure, YYYY-MM-DD. */
  journey_date: string;
  requested_at_ms: number;
  claimed_by: string | null;
  claimed_by_name: string | null;
  claimed_at_ms: number | null;
  decided_by_name: string | null;
  decided_at_ms: number | null;
  /** Why, in the operator's words, sealed. */
  decision_sealed: string | null;
  /** Fixed by the approval, atomic units. */
  payout_amount: number | null;
  penalty_amount: number | null;
  payout_tx_hash: string | null;
  due_at_ms: number;
  lease_until_ms: number;
  fence: Generated<number>;
  attempts: Generated<number>;
  last_error: string | null;
  updated_at_ms: number;
}

export interface RefundNoteTable {
  note_id: string;
  request_id: string;
  operator_name: string;
  text_sealed: string;
  at_ms: number;
}

/** Bearer keys, kept as a keyed hash. */
export interface ApiKeyTable {
  key_id: string;
  kind: 'operator';
  name: string;
  key_hmac: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

/** Operators' acts: written in the transaction of the act, and never changed. */
export interface OperatorAuditTable {
  audit_id: string;
  at_ms: number;
  key_id: string;
  operator_name: string;
  action: string;
  /** Its subject: a refund request, a key, a switch. */
  subject: string;
  /** X-Request-Id of the call. */
  request_id: string;
  /** JSON; ids and amounts, nothing personal. */
  detail: string;
}
