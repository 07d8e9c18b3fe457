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
interface OperatorAuditTable {
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

/** The operators' keys, and what they did: on both services. */
export interface DeskTables {
  api_keys: ApiKeyTable;
  operator_audit: OperatorAuditTable;
}
