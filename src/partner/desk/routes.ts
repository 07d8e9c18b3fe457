import { type LazySchema, type RouteTable, routesOf, schemasOf, type Visit } from '../../http/index.ts';
import { headerOf } from '../../kernel/http.ts';
import { inTurn } from '../../store/base/index.ts';
import { customerTurn, type DeskCall, mintToken, type PartnerPorts } from '../base/index.ts';
import { issueKey, listKeys, revokeKey, rotateKey } from './keys.ts';
import { listPartners, lookAtTries, putPartner, rotateSecret } from './partners.ts';

/** Authenticates an operator's call. @throws Problem `operator_key_required`, `operator_key_invalid` */
export const enterDesk =
  (ports: PartnerPorts) =>
  async ({ request, requestId }: Visit): Promise<DeskCall> => {
    const operator = await ports.desk.authenticate(headerOf(request, 'authorization'));
    return {
      ports,
      operator,
      note: (tx, action, subject, detail) =>
        ports.desk.audit(tx, { operator, requestId, action, subject, ...(detail && { detail }) }),
    };
  };

const route = routesOf<DeskCall>();
const wire = schemasOf(() => import('../../wire/partner/desk.ts'));
const at = <P extends string>(method: 'GET' | 'POST', path: P, id: string) => ({ method, path, id });
const done = (schema: LazySchema) => ({ 200: { description: 'Done.', schema } });
const made = (schema: LazySchema) => ({ 201: { description: 'Done.', schema } });

const loadAttestations = () => import('./attestation-desk.ts');
const loadCustomers = () => import('./customers.ts');

/**
 * The operator's desk of the partner service: partners, their keys, customers and their tokens. It uses snake_case and
 * Farelock's own errors, like everything under /operator. Every act is in the audit trail.
 */
export const deskRoutes: RouteTable<DeskCall> = {
  unknown: 'not_found',
  keyFirst: true,
  tag: 'operator',
  security: [['operatorKey']],
  codes: ['operator_key_required', 'operator_key_invalid'],
  json: { mayBeEmpty: true, namesOnce: true },
  routes: [
    route({
      ...at('GET', '/operator/partners', 'listPartners'),
      summary: 'List the partners of this environment.',
      answers: done(wire('partnerRecords')),
      run: ({ context }) => listPartners(context),
    }),
    route({
      ...at('POST', '/operator/partners', 'putPartner'),
      summary: 'Create or change a partner. A new one comes with the secret that signs the requests it is sent.',
      body: wire('putPartnerRequest'),
      answers: done(wire('putPartnerResponse')),
      codes: ['partner_url_refused'],
      run: ({ context, body }) => putPartner(context, body),
    }),
    route({
      ...at('POST', '/operator/partners/{partner_id}/rotate-secret', 'rotatePartnerSecret'),
      summary: 'Replace the secret that signs requests to a partner; both sign for a while. The new one is shown once.',
      body: wire('rotatePartnerKeyRequest'),
      answers: made(wire('rotatedSecret')),
      codes: ['partner_not_found'],
      run: ({ context, params, body }) => rotateSecret(context, params.partner_id, body.overlap_hours),
    }),
    route({
      ...at('GET', '/operator/partners/outbound/{order_id}', 'listOutboundTries'),
      summary:
        "List the requests to the partner's platform for an order, and its answers. Reading them is noted in the audit trail.",
      answers: done(wire('outboundTries')),
      codes: ['order_not_found'],
      run: ({ context, params }) => lookAtTries(context, params.order_id),
    }),
    route({
      ...at('GET', '/operator/attestations', 'listAttestations'),
      summary: 'List attestations that are running or were rejected, for a person to decide.',
      answers: done(wire('attestationRecords')),
      run: async ({ context }) => (await loadAttestations()).listAttestations(context),
    }),
    route({
      ...at('GET', '/operator/attestations/{attestation_id}', 'lookAtAttestation'),
      summary: 'Show an attestation with its customer data. Reading it is noted in the audit trail.',
      answers: done(wire('openedAttestation')),
      codes: ['attestation_not_found'],
      run: async ({ context, params }) => (await loadAttestations()).lookAtAttestation(context, params.attestation_id),
    }),
    route({
      ...at('POST', '/operator/attestations/{attestation_id}/decide', 'decideAttestation'),
      summary: 'Decide an attestation; this replaces an earlier verdict.',
      body: wire('decideAttestationRequest'),
      answers: done(wire('attestationRecord')),
      codes: ['attestation_not_found'],
      run: async ({ context, params, body }) =>
        (await loadAttestations()).decideAttestation(context, params.attestation_id, body),
    }),
    route({
      ...at('POST', '/operator/customers', 'createCustomer'),
      summary: 'Create a customer, known to the named partners.',
      body: wire('createCustomerRequest'),
      answers: made(wire('customerRecord')),
      codes: ['partner_not_found'],
      run: async ({ context, body }) => (await loadCustomers()).createCustomer(context, body),
    }),
    route({
      ...at('POST', '/operator/customers/{customer_id}', 'changeCustomer'),
      summary: 'Change the country of a customer, or the partners that see it.',
      body: wire('changeCustomerRequest'),
      answers: done(wire('customerRecord')),
      codes: ['customer_not_found', 'partner_not_found'],
      run: async ({ context, params, body }) =>
        (await loadCustomers()).changeCustomer(context, params.customer_id, body),
    }),
    route({
      ...at('POST', '/operator/customers/{customer_id}/block', 'blockCustomer'),
      summary: 'Block a customer: calls with a token of the customer are refused; orders go on.',
      body: wire('nothing'),
      answers: done(wire('customerRecord')),
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await loadCustomers()).blockCustomer(context, params.customer_id, true),
    }),
    route({
      ...at('POST', '/operator/customers/{customer_id}/unblock', 'unblockCustomer'),
      summary: 'Unblock a customer.',
      body: wire('nothing'),
      answers: done(wire('customerRecord')),
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await loadCustomers()).blockCustomer(context, params.customer_id, false),
    }),
    route({
      ...at('POST', '/operator/customers/{customer_id}/export', 'exportCustomer'),
      summary: 'Export everything that is kept of a customer, opened.',
      body: wire('nothing'),
      answers: done(wire('customerExport')),
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await loadCustomers()).exportCustomer(context, params.customer_id),
    }),
    route({
      ...at('POST', '/operator/customers/{customer_id}/erase', 'eraseCustomer'),
      summary: 'Erase the data of a customer; what the books must keep stays sealed, and is named.',
      body: wire('nothing'),
      answers: done(wire('erasedCustomer')),
      codes: ['customer_not_found'],
      run: async ({ context, params }) => (await loadCustomers()).eraseCustomer(context, params.customer_id),
    }),
    route({
      ...at('GET', '/operator/partner-keys', 'listPartnerKeys'),
      summary: 'List the API keys of all partners.',
      answers: done(wire('partnerKeys')),
      run: ({ context }) => listKeys(context),
    }),
    route({
      ...at('POST', '/operator/partner-keys', 'issuePartnerKey'),
      summary: 'Issue an API key; it is shown once.',
      body: wire('issuePartnerKeyRequest'),
      answers: made(wire('issuedPartnerKey')),
      codes: ['partner_not_found'],
      run: ({ context, body }) => issueKey(context, body.partner_id, body.name),
    }),
    route({
      ...at('POST', '/operator/partner-keys/{key_id}/revoke', 'revokePartnerKey'),
      summary: 'Revoke an API key.',
      body: wire('nothing'),
      answers: done(wire('partnerKey')),
      codes: ['partner_key_not_found'],
      run: ({ context, params }) => revokeKey(context, params.key_id),
    }),
    route({
      ...at('POST', '/operator/partner-keys/{key_id}/rotate', 'rotatePartnerKey'),
      summary: 'Replace an API key; the old one keeps working for a while.',
      body: wire('rotatePartnerKeyRequest'),
      answers: made(wire('issuedPartnerKey')),
      codes: ['partner_key_not_found', 'partner_key_revoked'],
      run: ({ context, params, body }) => rotateKey(context, params.key_id, body.overlap_hours),
    }),
    route({
      ...at('POST', '/operator/customer-tokens', 'issueCustomerToken'),
      summary: 'Issue a short-lived token for one customer.',
      body: wire('customerTokenRequest'),
      answers: made(wire('customerToken')),
      codes: ['customer_not_found'],
      run: ({ context: { ports, note }, body: { customer_id, ttl_minutes } }) =>
        inTurn(ports.store, [customerTurn(customer_id)], async (tx) => {
          const lifeMs = ttl_minutes === undefined ? undefined : ttl_minutes * 60_000;
          const minted = await mintToken(ports, tx, customer_id, lifeMs);
          await note(tx, 'customer_token.issue', customer_id);
          return minted;
        }),
    }),
  ],
};
