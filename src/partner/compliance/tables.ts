import type { Generated } from 'kysely';

/** A partner's own requirement of one customer, beyond the policy. It lasts until their link ends. */
interface PartnerRequirementTable {
  requirement_id: string;
  customer_id: string;
  partner_id: string;
  /** One of both is set. */
  data_type: string | null;
  attestation_type: string | null;
  max_age_days: number | null;
  /** Identifies a requirement by partner, customer, content and age: unique, so that asking again adds nothing. */
  ask_key: string;
  created_at_ms: number;
}

/** One piece of data that a customer gave; its values are in `customer_data_fields`. */
interface CustomerDataTable {
  data_id: string;
  customer_id: string;
  type: string;
  /** Of a wallet. */
  network: string | null;
  /** Keyed hash of the whole value: the same value given again is the same row. */
  value_hmac: string;
  /** Rises with every submission of the customer. */
  rank: number;
  submitted_at_ms: number;
  /** Given, or used for an order: the retention counts from here. */
  last_used_at_ms: number;
}

/** One field of a piece of data (`idDocument.documentNumber`, an image), sealed for this row and field alone. */
interface CustomerDataFieldTable {
  data_id: string;
  field: string;
  value_sealed: string;
}

type AttestationRunState = 'running' | 'passed' | 'rejected';

/** An attestation that was begun for certain data of a customer. It names the data by their ids, and holds none. */
export interface AttestationRunTable {
  attestation_id: string;
  customer_id: string;
  type: string;
  input_key: string;
  rank: number;
  state: AttestationRunState;
  /** Set while it runs; unique: one run at a time for the same data. */
  live_key: string | null;
  due_at_ms: number;
  lease_until_ms: number;
  fence: Generated<number>;
  attempts: number;
  started_at_ms: number;
  finished_at_ms: number | null;
  /** `sandbox`, or the key id of the operator who decided. */
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

/** The order that was refused last for want of compliance, per direction: what it needs is asked of the customer. */
interface WantedOrderTable {
  customer_id: string;
  ramp_type: string;
  partner_id: string;
  country: string | null;
  usd: string | null;
  network: string | null;
  wanted_at_ms: number;
}

export interface ComplianceTables {
  partner_requirements: PartnerRequirementTable;
  customer_data: CustomerDataTable;
  customer_data_fields: CustomerDataFieldTable;
  attestation_runs: AttestationRunTable;
  terms_acceptances: TermsAcceptanceTable;
  wanted_orders: WantedOrderTable;
}
