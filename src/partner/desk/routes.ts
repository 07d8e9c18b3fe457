import { type RouteTable, routesOf, schemasOf, type Visit } from '../../http/routes.ts';
import { headerOf } from '../../kernel/http.ts';
import type { PartnerPorts } from '../ports.ts';
import { mintToken } from '../tokens.ts';
import { createPartnerKeys, type Doing } from './accounts.ts';
import { createPartners } from './partners.ts';

/** The ports of an operator’s call, and who calls. @throws Problem `operator_key_required`, `operator_key_invalid` */
export const enterDesk =
  (ports: PartnerPorts) =>
  async ({ request, requestId }: Visit) => {
    const by: Doing = {
      operator: await ports.desk.authenticate(headerOf(request, 'authorization')),
      requestId,
    };
    return { ports, by, keys: createPartnerKeys(ports), partners: createPartners(ports) };
  };

type Desk = Awaited<ReturnType<ReturnType<typeof enterDesk>>>;

const route = routesOf<Desk>();
const wire = schemasOf(() => import('./schema.ts'));
const outbound = schemasOf(() => import('../outbound/outbound-desk.ts'));
const DONE = 'Done.';

const attestations = async ({ ports }: Desk) =>
  (await import('./attestation-desk.ts')).createAttestationDesk(ports);

/**
 * The operator's desk of the partner service: partners, their keys, customers and their tokens. snake_case and
 * Farelock's own errors, as everything under /operator; every act is in the audit trail.
 */
export const deskRoutes: RouteTable<Desk> = {
  unknown: 'not_found',
  keyFirst: true,
  tag: 'operator',
  security: [['operatorKey']],
  codes: ['operator_key_required', 'operator_key_invalid'],
  json: { mayBeEmpty: true, namesOnce: true },
  routes: [
    route({
      method: 'GET',
      path: '/operator/partners',
      id: 'listPartners',
      summary: 'Partners of this environment.',
      answers: { 200: { description: DONE, schema: wire('partnerRecords') } },
      run: ({ context }) => context.partners.list(),
    }),
    route({
      method: 'POST',
      path: '/operator/partners',
      id: 'putPartner',
      summary: 'Make a partner, or change one. A new one comes with the secret that signs what it is sent.',
      body: wire('putPartnerRequest'),
      answers: { 200: { description: DONE, schema: wire('putPartnerResponse') } },
      codes: ['partner_url_refused'],
      run: ({ context, body }) => context.partners.put(context.by, body),
    }),
    route({
      method: 'GET',
      path: '/operator/partners/outbound/{order_id}',
      id: 'listOutboundTries',
      summary:
        "What was sent to the partner's platform for an order, and answered. The look is in the audit trail.",
      answers: { 200: { description: DONE, schema: outbound('outboundTries') } },
      codes: ['order_not_found'],
      async run({ context, params }) {
        const { createOutboundDesk } = await import('../outbound/outbound-desk.ts');
        return createOutboundDesk(context.ports).look(context.by, params.order_id);
      },
    }),
    route({
      method: 'GET',
      path: '/operator/attestations',
      id: 'listAttestations',
      summary: 'Attestations that run, or were rejected: what a person may decide.',
      answers: { 200: { description: DONE, schema: wire('attestationRecords') } },
      run: async ({ context }) => (await attestations(context)).list(),
    }),
    route({
      method: 'GET',
      path: '/operator/attestations/{attestation_id}',
      id: 'lookAtAttestation',
      summary: 'One, with the customer data that it is about. The look is in the audit trail.',
      answers: { 200: { description: DONE, schema: wire('openedAttestation') } },
      codes: ['attestation_not_found'],
      run: async ({ context, params }) =>
        (await attestations(context)).look(context.by, params.attestation_id),
    }),
    route({
      method: 'POST',
      path: '/operator/attestations/{attestation_id}/decide',
      id: 'decideAttestation',
      summary: "A person's verdict, which counts also against an earlier one.",
      body: wire('decideAttestationRequest'),
      answers: { 200: { description: DONE, schema: wire('attestationRecord') } },
      codes: ['attestation_not_found'],
      run: async ({ context, params, body }) =>
        (await attestations(context)).decide(context.by, params.attestation_id, body.verdict),
    }),
    route({
      method: 'POST',
      path: '/operator/customers',
      id: 'createCustomer',
      summary: 'Make a customer, known to the partners that are named.',
      body: wire('createCustomerRequest'),
      answers: { 201: { description: DONE, schema: wire('customerRecord') } },
      codes: ['partner_not_found'],
      run: ({ context, body }) => context.partners.createCustomer(context.by, body),
    }),
    route({
      method: 'GET',
      path: '/operator/partner-keys',
      id: 'listPartnerKeys',
      summary: 'API keys, by name.',
      answers: { 200: { description: DONE, schema: wire('partnerKeys') } },
      run: ({ context }) => context.keys.list(),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys',
      id: 'issuePartnerKey',
      summary: 'A new API key. It is shown this once.',
      body: wire('issuePartnerKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('issuedPartnerKey') } },
      codes: ['partner_not_found'],
      run: ({ context, body }) => context.keys.issue(context.by, body.partner_id, body.name),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys/{key_id}/revoke',
      id: 'revokePartnerKey',
      summary: 'The key works no more.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('partnerKey') } },
      codes: ['partner_key_not_found'],
      run: ({ context, params }) => context.keys.revoke(context.by, params.key_id),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys/{key_id}/rotate',
      id: 'rotatePartnerKey',
      summary: 'A new key takes the place of another, which goes on for a while.',
      body: wire('rotatePartnerKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('issuedPartnerKey') } },
      codes: ['partner_key_not_found', 'partner_key_revoked'],
      run: ({ context, params, body }) => context.keys.rotate(context.by, params.key_id, body.overlap_hours),
    }),
    route({
      method: 'POST',
      path: '/operator/customer-tokens',
      id: 'issueCustomerToken',
      summary: 'A token for one customer, for minutes.',
      body: wire('customerTokenRequest'),
      answers: { 201: { description: DONE, schema: wire('customerToken') } },
      codes: ['customer_not_found'],
      run: ({ context: { ports, by }, body: { customer_id, ttl_minutes } }) =>
        ports.store.transaction().execute(async (tx) => {
          const lifeMs = ttl_minutes === undefined ? undefined : ttl_minutes * 60_000;
          const minted = await mintToken(ports, tx, customer_id, lifeMs);
          await ports.desk.audit(tx, { ...by, action: 'customer_token.issue', subject: customer_id });
          return minted;
        }),
    }),
  ],
};
