import * as z from 'zod';
import { failures, json, REQUEST_ID, ref } from '../../http/openapi.ts';
import type { ProblemCode } from '../../kernel/problems.ts';
import * as schemas from '../desk/schema.ts';
import { outboundTries } from '../outbound/outbound-desk.ts';

/** The operator's desk in the description: snake_case, and errors of Farelock's own form. */

const COMPONENTS = {
  PartnerRecord: schemas.partnerRecord,
  PartnerRecords: schemas.partnerRecords,
  PutPartnerRequest: schemas.putPartnerRequest,
  PutPartnerResponse: schemas.putPartnerResponse,
  PartnerKey: schemas.partnerKey,
  PartnerKeys: schemas.partnerKeys,
  IssuedPartnerKey: schemas.issuedPartnerKey,
  IssuePartnerKeyRequest: schemas.issuePartnerKeyRequest,
  RotatePartnerKeyRequest: schemas.rotatePartnerKeyRequest,
  CustomerTokenRequest: schemas.customerTokenRequest,
  CustomerToken: schemas.customerToken,
  CreateCustomerRequest: schemas.createCustomerRequest,
  CustomerRecord: schemas.customerRecord,
  AttestationRecord: schemas.attestationRecord,
  AttestationRecords: schemas.attestationRecords,
  OpenedAttestation: schemas.openedAttestation,
  DecideAttestationRequest: schemas.decideAttestationRequest,
  OutboundTries: outboundTries,
  Nothing: schemas.nothing,
} satisfies Record<string, z.ZodType>;

export const operatorComponents = (): Record<string, object> => ({
  ...Object.fromEntries(
    Object.entries(COMPONENTS).map(([name, schema]) => {
      const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
      return [name, rest];
    }),
  ),
  OperatorError: {
    type: 'object',
    required: ['code', 'message'],
    additionalProperties: false,
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      detail: { type: 'object', additionalProperties: true },
    },
  },
});

const ALWAYS: readonly ProblemCode[] = [
  'invalid_request',
  'operator_key_required',
  'operator_key_invalid',
  'method_not_allowed',
  'internal_error',
];
const BODY: readonly ProblemCode[] = ['invalid_json', 'payload_too_large', 'unsupported_media_type'];

interface Act {
  readonly id: string;
  readonly summary: string;
  readonly request?: keyof typeof COMPONENTS;
  readonly response: keyof typeof COMPONENTS;
  readonly status?: number;
  readonly codes?: readonly ProblemCode[];
  readonly keyInPath?: true;
  readonly attestationInPath?: true;
  readonly orderInPath?: true;
}

const act = (one: Act) => ({
  operationId: one.id,
  tags: ['operator'],
  summary: one.summary,
  security: [{ operatorKey: [] }],
  parameters: [
    ...(one.keyInPath ? ['key_id'] : []),
    ...(one.attestationInPath ? ['attestation_id'] : []),
    ...(one.orderInPath ? ['order_id'] : []),
  ].map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  ...(one.request ? { requestBody: { required: true, content: json(ref(one.request)) } } : {}),
  responses: {
    [one.status ?? 200]: { description: 'Done.', headers: REQUEST_ID, content: json(ref(one.response)) },
    ...failures([...ALWAYS, ...(one.request ? BODY : []), ...(one.codes ?? [])], (listed) => ({
      allOf: [ref('OperatorError'), { properties: { code: { enum: listed } } }],
    })),
  },
});

export const operatorPaths = () => ({
  '/operator/partners': {
    get: act({ id: 'listPartners', summary: 'Partners of this environment.', response: 'PartnerRecords' }),
    post: act({
      id: 'putPartner',
      summary: 'Make a partner, or change one. A new one comes with the secret that signs what it is sent.',
      request: 'PutPartnerRequest',
      response: 'PutPartnerResponse',
      codes: ['partner_url_refused'],
    }),
  },
  '/operator/partners/outbound/{order_id}': {
    get: act({
      id: 'listOutboundTries',
      summary:
        "What was sent to the partner's platform for an order, and answered. The look is in the audit trail.",
      response: 'OutboundTries',
      orderInPath: true,
      codes: ['order_not_found'],
    }),
  },
  '/operator/attestations': {
    get: act({
      id: 'listAttestations',
      summary: 'Attestations that run, or were rejected: what a person may decide.',
      response: 'AttestationRecords',
    }),
  },
  '/operator/attestations/{attestation_id}': {
    get: act({
      id: 'lookAtAttestation',
      summary: 'One, with the customer data that it is about. The look is in the audit trail.',
      response: 'OpenedAttestation',
      attestationInPath: true,
      codes: ['attestation_not_found'],
    }),
  },
  '/operator/attestations/{attestation_id}/decide': {
    post: act({
      id: 'decideAttestation',
      summary: "A person's verdict, which counts also against an earlier one.",
      request: 'DecideAttestationRequest',
      response: 'AttestationRecord',
      attestationInPath: true,
      codes: ['attestation_not_found'],
    }),
  },
  '/operator/customers': {
    post: act({
      id: 'createCustomer',
      summary: 'Make a customer, known to the partners that are named.',
      request: 'CreateCustomerRequest',
      response: 'CustomerRecord',
      status: 201,
      codes: ['partner_not_found'],
    }),
  },
  '/operator/partner-keys': {
    get: act({ id: 'listPartnerKeys', summary: 'API keys, by name.', response: 'PartnerKeys' }),
    post: act({
      id: 'issuePartnerKey',
      summary: 'A new API key. It is shown this once.',
      request: 'IssuePartnerKeyRequest',
      response: 'IssuedPartnerKey',
      status: 201,
      codes: ['partner_not_found'],
    }),
  },
  '/operator/partner-keys/{key_id}/revoke': {
    post: act({
      id: 'revokePartnerKey',
      summary: 'The key works no more.',
      request: 'Nothing',
      response: 'PartnerKey',
      codes: ['partner_key_not_found'],
      keyInPath: true,
    }),
  },
  '/operator/partner-keys/{key_id}/rotate': {
    post: act({
      id: 'rotatePartnerKey',
      summary: 'A new key takes the place of another, which goes on for a while.',
      request: 'RotatePartnerKeyRequest',
      response: 'IssuedPartnerKey',
      status: 201,
      codes: ['partner_key_not_found', 'partner_key_revoked'],
      keyInPath: true,
    }),
  },
  '/operator/customer-tokens': {
    post: act({
      id: 'issueCustomerToken',
      summary: 'A token for one customer, for minutes.',
      request: 'CustomerTokenRequest',
      response: 'CustomerToken',
      status: 201,
      codes: ['customer_not_found'],
    }),
  },
});
