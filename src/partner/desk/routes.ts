import { type RouteTable, routesOf, schemasOf, type Visit } from '../../http/index.ts';
import { headerOf } from '../../kernel/http.ts';
import { type Doing, mintToken, type PartnerPorts } from '../base/index.ts';
import { loadOutboundDesk } from '../platforms/index.ts';
import { createPartnerKeys } from './accounts.ts';
import { createCustomers } from './customers.ts';
import { createPartners } from './partners.ts';

/** The ports of an operator’s call, and who calls. @throws Problem `operator_key_required`, `operator_key_invalid` */
export const enterDesk =
  (ports: PartnerPorts) =>
  async ({ request, requestId }: Visit) => {
    const by: Doing = { operator: await ports.desk.authenticate(headerOf(request, 'authorization')), requestId };
    return {
      ports,
      by,
      keys: createPartnerKeys(ports),
      partners: createPartners(ports),
      customers: createCustomers(ports),
    };
  };

type Desk = Awaited<ReturnType<ReturnType<typeof enterDesk>>>;

const route = routesOf<Desk>();
const wire = schemasOf(() => import('../../wire/partner/desk.ts'));
const outbound = schemasOf(() => loadOutboundDesk());
const DONE = 'Done.';

const attestations = async ({ ports }: Desk) => (await import('./attestation-desk.ts')).createAttestationDesk(ports);

const oneCustomer = async ({ ports }: Desk) => (await import('./one-customer.ts')).createOneCustomer(ports);

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
      summary: 'List the partners of this environment.',
      answers: { 200: { description: DONE, schema: wire('partnerRecords') } },
      run: ({ context }) => context.partners.list(),
    }),
    route({
      method: 'POST',
      path: '/operator/partners',
      id: 'putPartner',
      summary: 'Create or change a partner. A new one comes with the secret that signs the requests it is sent.',
      body: wire('putPartnerRequest'),
      answers: { 200: { description: DONE, schema: wire('putPartnerResponse') } },
      codes: ['partner_url_refused'],
      run: ({ context, body }) => context.partners.put(context.by, body),
    }),
    route({
      method: 'POST',
      path: '/operator/partners/{partner_id}/rotate-secret',
      id: 'rotatePartnerSecret',
      summary: 'Replace the secret that signs requests to a partner; both sign for a while. The new one is shown once.',
      body: wire('rotatePartnerKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('rotatedSecret') } },
      codes: ['partner_not_found'],
      run: ({ context, params, body }) =>
        context.partners.rotateSecret(context.by, params.partner_id, body.overlap_hours),
    }),
    route({
      method: 'GET',
      path: '/operator/partners/outbound/{order_id}',
      id: 'listOutboundTries',
      summary:
        "List the requests to the partner's platform for an order, and its answers. Reading them is noted in the audit trail.",
      answers: { 200: { description: DONE, schema: outbound('outboundTries') } },
      codes: ['order_not_found'],
      async run({ context, params }) {
        const { createOutboundDesk } = await loadOutboundDesk();
        return createOutboundDesk(context.ports).look(context.by, params.order_id);
      },
    }),
    route({
      method: 'GET',
      path: '/operator/attestations',
      id: 'listAttestations',
      summary: 'List attestations that are running or were rejected, for a person to decide.',
      answers: { 200: { description: DONE, schema: wire('attestationRecords') } },
      run: async ({ context }) => (await attestations(context)).list(),
    }),
    route({
      method: 'GET',
      path: '/operator/attestations/{attestation_id}',
      id: 'lookAtAttestation',
      summary: 'Show an attestation with its customer data. Reading it is noted in the audit trail.',
      answers: { 200: { description: DONE, schema: wire('openedAttestation') } },
      codes: ['attestation_not_found'],
      run: async ({ context, params }) => (await attestations(context)).look(context.by, params.attestation_id),
    }),
    route({
      method: 'POST',
      path: '/operator/attestations/{attestation_id}/decide',
      id: 'decideAttestation',
      summary: 'Decide an attestation; this replaces an earlier verdict.',
      body: wire('decideAttestationRequest'),
      answers: { 200: { description: DONE, schema: wire('attestationRecord') } },
      codes: ['attestation_not_found'],
      run: async ({ context, params, body }) =>
        (await attestations(context)).decide(context.by, params.attestation_id, body),
    }),
    route({
      method: 'POST',
      path: '/operator/customers',
      id: 'createCustomer',
      summary: 'Create a customer, known to the named partners.',
      body: wire('createCustomerRequest'),
      answers: { 201: { description: DONE, schema: wire('customerRecord') } },
      codes: ['partner_not_found'],
      run: ({ context, body }) => context.customers.create(context.by, body),
    }),
    route({
      method: 'POST',
      path: '/operator/customers/{customer_id}',
      id: 'changeCustomer',
      summary: 'Change the country of a customer, or the partners that see it.',
      body: wire('changeCustomerRequest'),
      answers: { 200: { description: DONE, schema: wire('customerRecord') } },
      codes: ['customer_not_found', 'partner_not_found'],
      run: async ({ context, params, body }) =>
        (await oneCustomer(context)).change(context.by, params.customer_id, body),
    }),
    route({
      method: 'POST',
      path: '/operator/customers/{customer_id}/block',
      id: 'blockCustomer',
      summary: 'Block a customer: calls with a token of the customer are refused; orders go on.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('customerRecord') } },
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await oneCustomer(context)).block(context.by, params.customer_id, true),
    }),
    route({
      method: 'POST',
      path: '/operator/customers/{customer_id}/unblock',
      id: 'unblockCustomer',
      summary: 'Unblock a customer.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('customerRecord') } },
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await oneCustomer(context)).block(context.by, params.customer_id, false),
    }),
    route({
      method: 'POST',
      path: '/operator/customers/{customer_id}/export',
      id: 'exportCustomer',
      summary: 'Export everything that is kept of a customer, opened.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('customerExport') } },
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await oneCustomer(context)).export(context.by, params.customer_id),
    }),
    route({
      method: 'POST',
      path: '/operator/customers/{customer_id}/erase',
      id: 'eraseCustomer',
      summary: 'Erase the data of a customer; what the books must keep stays sealed, and is named.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('erasedCustomer') } },
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await oneCustomer(context)).erase(context.by, params.customer_id),
    }),
    route({
      method: 'GET',
      path: '/operator/partner-keys',
      id: 'listPartnerKeys',
      summary: 'List the API keys of all partners.',
      answers: { 200: { description: DONE, schema: wire('partnerKeys') } },
      run: ({ context }) => context.keys.list(),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys',
      id: 'issuePartnerKey',
      summary: 'Issue an API key; it is shown once.',
      body: wire('issuePartnerKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('issuedPartnerKey') } },
      codes: ['partner_not_found'],
      run: ({ context, body }) => context.keys.issue(context.by, body.partner_id, body.name),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys/{key_id}/revoke',
      id: 'revokePartnerKey',
      summary: 'Revoke an API key.',
      body: wire('nothing'),
      answers: { 200: { description: DONE, schema: wire('partnerKey') } },
      codes: ['partner_key_not_found'],
      run: ({ context, params }) => context.keys.revoke(context.by, params.key_id),
    }),
    route({
      method: 'POST',
      path: '/operator/partner-keys/{key_id}/rotate',
      id: 'rotatePartnerKey',
      summary: 'Replace an API key; the old one keeps working for a while.',
      body: wire('rotatePartnerKeyRequest'),
      answers: { 201: { description: DONE, schema: wire('issuedPartnerKey') } },
      codes: ['partner_key_not_found', 'partner_key_revoked'],
      run: ({ context, params, body }) => context.keys.rotate(context.by, params.key_id, body.overlap_hours),
    }),
    route({
      method: 'POST',
      path: '/operator/customer-tokens',
      id: 'issueCustomerToken',
      summary: 'Issue a short-lived token for one customer.',
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
