import type { Generated, Kysely, Transaction } from 'kysely';
import type { NotifyTables } from '../../notify/index.ts';
import type { MetaTables } from '../../store/index.ts';

export type PartnerEnvironment = 'demo' | 'live';

export interface PartnerTable {
  partner_id: string;
  environment: PartnerEnvironment;
  name: string;
  /** INTEGRATION: handles the whole order. REDIRECT (Tier 1): the customer is redirected to it. */
  type: 'INTEGRATION' | 'REDIRECT';
  platform_url: string;
  icon: string;
  terms_url: string;
  privacy_policy_url: string;
  /** JSON: lines by country, currencies, method and limits (wire/partner/offers.ts). */
  offering: string;
  /** Signs requests to the platform (Standard Webhooks). */
  webhook_secret_sealed: string;
  /** The secret before the last rotation; it also signs, until the time below. */
  webhook_secret_before_sealed: string | null;
  webhook_secret_before_until_ms: number | null;
  /** 0: takes no new orders; existing ones go on. */
  enabled: number;
  created_at_ms: number;
  updated_at_ms: number;
}

/** API keys of partners, stored as keyed hashes; each works in one environment. */
export interface PartnerKeyTable {
  key_id: string;
  partner_id: string;
  environment: PartnerEnvironment;
  name: string;
  key_hmac: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
  /** Set by a rotation: the old key works until then. */
  expires_at_ms: number | null;
  revoked_at_ms: number | null;
  replaced_by: string | null;
}

export interface CustomerTable {
  customer_id: string;
  environment: PartnerEnvironment;
  /** ISO 3166-1 alpha-3. */
  country: string;
  /** From then on the customer's calls are refused; orders already begun go on. */
  blocked_at_ms: number | null;
  created_at_ms: number;
}

interface CustomerPartnerTable {
  customer_id: string;
  partner_id: string;
  created_at_ms: number;
}

/** Bearer tokens of customers, stored as keyed hashes. */
interface CustomerTokenTable {
  token_hmac: string;
  customer_id: string;
  environment: PartnerEnvironment;
  expires_at_ms: number;
  created_at_ms: number;
}

export interface PartnerOrderTable {
  order_id: string;
  environment: PartnerEnvironment;
  partner_id: string;
  customer_id: string;
  external_id: string | null;
  /** The partner's type when the order was begun. It decides how the order is finished, even if the type changes. */
  begun_as: 'INTEGRATION' | 'REDIRECT';
  /** The platform's address when the order was begun; only that platform knows the outcome. Null if unknown. */
  platform_url: string | null;
  /**
   * `creating` and `failed` orders are hidden, because no platform has confirmed them. `redirected` rows are no orders:
   * the customer was sent to a Tier 1 partner, which reports no outcome.
   */
  creation: 'creating' | 'created' | 'redirected' | 'failed';
  /** An OrderStatus; null until the order exists at the partner's platform. */
  status: string | null;
  transaction_type: 'ONRAMP' | 'OFFRAMP';
  country_code: string;
  source_currency: string;
  source_amount: string;
  destination_currency: string;
  destination_amount: string | null;
  network: string;
  payment_method: string;
  /** JSON, sealed: account numbers and names. */
  deposit_instructions_sealed: string | null;
  customer_payment_details_data_id: string | null;
  customer_wallet_data_id: string | null;
  source_transaction_id: string | null;
  destination_transaction_id: string | null;
  reason_sealed: string | null;
  customer_facing_reason_sealed: string | null;
  return_details_sealed: string | null;
  redirect_url_sealed: string | null;
  /** 1 once the customer's funds were seen; never 0 again. */
  funds_seen: Generated<number>;
  /** 1 once the payment was processed; the destination transaction can then no longer change. */
  payment_processed: Generated<number>;
  version: Generated<number>;
  /** Handle of the Idempotency-Key of CreateOrder; unique. */
  creation_key: string | null;
  request_digest: string | null;
  /** JSON, sealed: fields of the outbound request, and how a failed creation ended. */
  creation_sealed: string | null;
  due_at_ms: number | null;
  lease_until_ms: Generated<number>;
  fence: Generated<number>;
  attempts: Generated<number>;
  last_error: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** The history of an order: a row per version, written with the change. Only the retention clears values. */
interface PartnerOrderChangeTable {
  order_id: string;
  version: number;
  from_status: string | null;
  to_status: string;
  fields: string;
  /** JSON, sealed: the previous values of the fields. */
  previous_sealed: string | null;
  /** `key:<key id>`, `platform`, `seed`. */
  actor: string;
  request_id: string;
  at_ms: number;
}

/** Counts a partner's orders by status; updated with each change (orders/order-record.ts). */
interface PartnerOrderCountTable {
  partner_id: string;
  environment: PartnerEnvironment;
  status: string;
  orders: number;
}

interface PartnerAnswerTable {
  /** Keyed hash of caller, procedure and key. */
  handle: string;
  request_digest: string;
  status: number;
  answer_sealed: string;
  expires_at_ms: number;
}

/** Requests to partner platforms: a row per finished try. Only sealed columns are ever cleared. */
interface PartnerOutboundTable {
  outbound_id: string;
  partner_id: string;
  order_id: string;
  kind: 'create-order' | 'redirect-order';
  attempt: number;
  outcome: string;
  status: number | null;
  duration_ms: number;
  /** The answer as received, cut at a size limit. */
  raw_response_sealed: string | null;
  request_sealed: string | null;
  /** A short reason such as ECONNREFUSED. */
  reason: string | null;
  at_ms: number;
}

interface PartnerBreakerTable {
  partner_id: string;
  failures: number;
  open_until_ms: number;
  /** Until then a single caller checks whether the platform is back. */
  probe_until_ms: Generated<number>;
  /** Recent calls and how many of them were answered: the partner's reliability. */
  calls: Generated<number>;
  answered: Generated<number>;
  updated_at_ms: number;
}

/** A partner's own requirement of one customer, beyond the policy. It lasts until their link ends. */
interface PartnerRequirementTable {
  requirement_id: string;
  customer_id: string;
  partner_id: string;
  /** Set unless `attestation_type` is. */
  data_type: string | null;
  attestation_type: string | null;
  max_age_days: number | null;
  /** Identifies a requirement by partner, customer, content and age. Unique, so that asking again adds nothing. */
  ask_key: string;
  created_at_ms: number;
}

/** One piece of data that a customer gave; its values are in `customer_data_fields`. */
interface CustomerDataTable {
  data_id: string;
  customer_id: string;
  type: string;
  /** Set for a wallet. */
  network: string | null;
  /** Keyed hash of the whole value, so that a value given again keeps its row. */
  value_hmac: string;
  /** Rises with every submission of the customer. */
  rank: number;
  submitted_at_ms: number;
  /** Last given or used for an order; the retention counts from then. */
  last_used_at_ms: number;
}

/** One field of a piece of data (`idDocument.documentNumber`, an image), sealed for this row and field alone. */
interface CustomerDataFieldTable {
  data_id: string;
  field: string;
  value_sealed: string;
}

/** An attestation that was begun. It names the customer's data by ids only. */
export interface AttestationRunTable {
  attestation_id: string;
  customer_id: string;
  type: string;
  input_key: string;
  rank: number;
  state: 'running' | 'passed' | 'rejected';
  /** Set while it runs. Unique, so only one run at a time is about the same data. */
  live_key: string | null;
  due_at_ms: number;
  lease_until_ms: number;
  fence: Generated<number>;
  attempts: number;
  started_at_ms: number;
  finished_at_ms: number | null;
  /** `sandbox`, `seed`, or the key id of the operator who decided. */
  decided_by: string | null;
  /** The operator's reason; only operators see it. */
  reason_sealed: string | null;
}

/** A customer's consent to a document. Rows are only added. */
interface TermsAcceptanceTable {
  acceptance_id: string;
  customer_id: string;
  version: string;
  terms_url: string;
  privacy_policy_url: string;
  accepted_at_ms: number;
}

/** The last order in each direction that was refused for lack of compliance; its requirements are listed. */
interface WantedOrderTable {
  customer_id: string;
  ramp_type: string;
  partner_id: string;
  country: string | null;
  usd: string | null;
  network: string | null;
  wanted_at_ms: number;
}

/** The tables that the partner service reads and writes: its own and those of the rooms below it, never flights'. */
export interface PartnerDatabase extends NotifyTables, MetaTables {
  partners: PartnerTable;
  partner_keys: PartnerKeyTable;
  customers: CustomerTable;
  customer_partners: CustomerPartnerTable;
  customer_tokens: CustomerTokenTable;
  partner_orders: PartnerOrderTable;
  partner_order_changes: PartnerOrderChangeTable;
  partner_order_counts: PartnerOrderCountTable;
  partner_answers: PartnerAnswerTable;
  partner_outbound: PartnerOutboundTable;
  partner_breakers: PartnerBreakerTable;
  partner_requirements: PartnerRequirementTable;
  customer_data: CustomerDataTable;
  customer_data_fields: CustomerDataFieldTable;
  attestation_runs: AttestationRunTable;
  terms_acceptances: TermsAcceptanceTable;
  wanted_orders: WantedOrderTable;
}

/** Columns with account numbers, names and words about people, each sealed for its row. */
export type SealedColumn = Extract<keyof PartnerOrderTable, `${string}_sealed`>;

export type Store = Kysely<PartnerDatabase>;
export type Tx = Transaction<PartnerDatabase>;
