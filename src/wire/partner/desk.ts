import * as z from 'zod';
import { ATTESTATION_TYPES } from './kinds.ts';
import { offeringSchema } from './offers.ts';
import { countryCode, identifier, text } from './parts.ts';

/** The wire of the operators' desk: snake_case, like everything under /operator. */

const instant = z.iso.datetime();

export const partnerKey = z.strictObject({
  key_id: z.string(),
  partner_id: z.string(),
  environment: z.enum(['demo', 'live']),
  name: z.string(),
  created_at: instant,
  last_used_at: instant.nullable(),
  /** Set by a rotation: the key works until then. */
  expires_at: instant.nullable(),
  revoked_at: instant.nullable(),
  replaced_by: z.string().nullable(),
});
export type PartnerKey = z.output<typeof partnerKey>;

export const partnerKeys = z.strictObject({ keys: z.array(partnerKey) });
export type PartnerKeys = z.output<typeof partnerKeys>;

/** The only answer that shows the key. */
export const issuedPartnerKey = partnerKey.extend({ key: z.string() });
export type IssuedPartnerKey = z.output<typeof issuedPartnerKey>;

export const issuePartnerKeyRequest = z.strictObject({ partner_id: identifier, name: text(60) });

export const rotatePartnerKeyRequest = z.strictObject({
  overlap_hours: z
    .number({ error: 'must be a number of hours.' })
    .min(0, 'is 0 to 720.')
    .max(720, 'is 0 to 720.')
    .default(24),
});

export const customerTokenRequest = z.strictObject({
  customer_id: identifier,
  ttl_minutes: z
    .int({ error: 'must be a whole number.' })
    .min(1, 'is 1 to 1440.')
    .max(1440, 'is 1 to 1440.')
    .optional(),
});

/** The only answer that shows the token. */
export const customerToken = z.strictObject({
  customer_id: z.string(),
  environment: z.enum(['demo', 'live']),
  token: z.string(),
  expires_at: instant,
});
export type CustomerToken = z.output<typeof customerToken>;

export const partnerRecord = z.strictObject({
  partner_id: z.string(),
  environment: z.enum(['demo', 'live']),
  name: z.string(),
  type: z.enum(['INTEGRATION', 'REDIRECT']),
  platform_url: z.string(),
  icon: z.string(),
  terms_url: z.string(),
  privacy_policy_url: z.string(),
  offering: z.unknown(),
  enabled: z.boolean(),
  created_at: instant,
  updated_at: instant,
});
export type PartnerRecord = z.output<typeof partnerRecord>;

export const partnerRecords = z.strictObject({ partners: z.array(partnerRecord) });
export type PartnerRecords = z.output<typeof partnerRecords>;

const webAddress = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address.' })
  .max(500, 'must be at most 500 characters.');

/** Creates or changes a partner. The guard (ssrf-guard.ts) checks the address of its platform. */
export const putPartnerRequest = z.strictObject({
  partner_id: z
    .string({ error: 'must be a string.' })
    .regex(/^par_[a-z0-9_]{1,60}$/, 'must be par_ and up to 60 lower-case letters, digits and _.')
    .optional(),
  name: text(100),
  type: z.enum(['INTEGRATION', 'REDIRECT']),
  platform_url: text(500),
  icon: webAddress,
  terms_url: webAddress,
  privacy_policy_url: webAddress,
  offering: offeringSchema,
  enabled: z.boolean({ error: 'must be true or false.' }).default(true),
});
export type PutPartner = z.output<typeof putPartnerRequest>;

export const putPartnerResponse = partnerRecord.extend({ webhook_secret: z.string().optional() });

export const rotatedSecret = z.strictObject({
  partner_id: z.string(),
  /** Shown only in this answer. */
  webhook_secret: z.string(),
  /** Until then requests carry two signatures. */
  previous_until: instant,
});
export type RotatedSecret = z.output<typeof rotatedSecret>;

export const createCustomerRequest = z.strictObject({
  customer_id: z
    .string({ error: 'must be a string.' })
    .regex(/^cus_[a-z0-9_]{1,60}$/, 'must be cus_ and up to 60 lower-case letters, digits and _.')
    .optional(),
  country: countryCode,
  partner_ids: z.array(identifier).max(50, 'must be at most 50 partners.').default([]),
});
export type CreateCustomer = z.output<typeof createCustomerRequest>;

export const customerRecord = z.strictObject({
  customer_id: z.string(),
  environment: z.enum(['demo', 'live']),
  country: z.string(),
  partner_ids: z.array(z.string()),
  blocked_at: instant.nullable(),
  created_at: instant,
});
export type CustomerRecord = z.output<typeof customerRecord>;

export const changeCustomerRequest = z.strictObject({
  country: countryCode.optional(),
  /** Replaces the customer's links to partners. */
  partner_ids: z.array(identifier).max(50, 'must be at most 50 partners.').optional(),
});
export type ChangeCustomer = z.output<typeof changeCustomerRequest>;

const anything = z.record(z.string(), z.unknown());

export const customerExport = z.strictObject({
  customer: customerRecord,
  data: z.array(anything),
  attestations: z.array(anything),
  terms: z.array(anything),
  requirements: z.array(anything),
  orders: z.array(anything),
});
export type CustomerExport = z.output<typeof customerExport>;

export const erasedCustomer = z.strictObject({
  customer_id: z.string(),
  erased: z.strictObject({ data: z.array(z.string()), orders: z.array(z.string()) }),
  /** Data that stays, sealed: that of open orders, and records that the books must keep until `until`. */
  kept: z.array(
    z.strictObject({
      kind: z.enum(['order', 'data']),
      id: z.string(),
      why: z.enum(['open_order', 'books']),
      until: instant.nullable(),
    }),
  ),
});
export type ErasedCustomer = z.output<typeof erasedCustomer>;

export const nothing = z.strictObject({});

/** A customer's attestation without personal data; `decided_by` is `sandbox`, `seed` or the key id of an operator. */
export const attestationRecord = z.strictObject({
  attestation_id: z.string(),
  customer_id: z.string(),
  type: z.enum(ATTESTATION_TYPES),
  state: z.enum(['running', 'passed', 'rejected']),
  started_at: instant,
  finished_at: instant.nullable(),
  decided_by: z.string().nullable(),
});
export type AttestationRecord = z.output<typeof attestationRecord>;

export const attestationRecords = z.strictObject({ attestations: z.array(attestationRecord) });
export type AttestationRecords = z.output<typeof attestationRecords>;

/** An attestation with its customer data and the deciding operator's reason, which only operators see. */
export const openedAttestation = attestationRecord.extend({
  reason: z.string().nullable(),
  data: z.array(z.record(z.string(), z.unknown())),
});
export type OpenedAttestation = z.output<typeof openedAttestation>;

export const decideAttestationRequest = z.strictObject({
  verdict: z.enum(['passed', 'rejected'], { error: 'must be passed or rejected.' }),
  reason: text(500).optional(),
});
export type DecideAttestation = z.output<typeof decideAttestationRequest>;

const outboundTry = z.strictObject({
  partner_id: z.string(),
  order_id: z.string(),
  operation: z.enum(['create-order', 'redirect-order']),
  attempt: z.int(),
  at: instant,
  duration_ms: z.int(),
  /** `answer`, `lost`, `unsent`, `oversized`, `refused`, `breaker_open` */
  outcome: z.string(),
  status: z.int().nullable(),
  reason: z.string().nullable(),
  request: z.string(),
  answer: z.string().nullable(),
});

export const outboundTries = z.strictObject({ tries: z.array(outboundTry) });
export type OutboundTries = z.output<typeof outboundTries>;
