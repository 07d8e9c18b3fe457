import { type RouteTable, routesOf, schemasOf } from '../http/index.ts';
import { type Caller, procedure } from './base/index.ts';
import { loadRequirements } from './compliance/index.ts';
import { loadOrderCreation, loadOrderPages, loadOrderUpdate } from './orders/index.ts';
import { loadPlatformsOffers } from './platforms/index.ts';

const orders = schemasOf(() => import('../wire/partner/schema.ts'));
const requirements = schemasOf(() => import('../wire/partner/requirements.ts'));
const offers = schemasOf(() => import('../wire/partner/offers.ts'));

/** Customer data includes pictures, which are sent as base64. */
const MOST_DATA_BODY_BYTES = 8 * 1024 * 1024;

/** The procedures for partners and for customers (spec/partner-service.md; CONTRACT, sections 10 to 12). */
const PROCEDURES = [
  procedure({
    service: 'partner',
    name: 'UpdateOrder',
    summary: 'Update the status or the details of an order.',
    input: orders('updateOrderRequest'),
    output: orders('updateOrderResponse'),
    writes: true,
    versioned: true,
    headers: [{ name: 'If-Match', description: 'A version of the order, such as "3": a stale writer is refused.' }],
    codes: [
      'order_not_found',
      'order_in_doubt',
      'invalid_status_transition',
      'transaction_id_fixed',
      'order_finished',
      'order_version_mismatch',
    ],
    run: async (ports, call, input) => (await loadOrderUpdate()).updateOrder(ports, call, input),
  }),
  procedure({
    service: 'partner',
    name: 'GetOrders',
    summary: "List the partner's orders, newest first.",
    input: orders('getOrdersRequest'),
    output: orders('getOrdersResponse'),
    run: async (ports, call, input) => (await loadOrderPages()).pageOfOrders(ports, call.partner.partnerId, input),
  }),
  procedure({
    service: 'partner',
    name: 'GetOrderDetails',
    summary: 'Show an order, with its history if asked for.',
    input: orders('getOrderDetailsRequest'),
    output: orders('getOrderDetailsResponse'),
    versioned: true,
    codes: ['order_not_found', 'order_in_doubt'],
    run: async (ports, call, input) => (await loadOrderPages()).orderDetails(ports, call, input),
  }),
  procedure({
    service: 'partner',
    name: 'AddCustomerRequirement',
    summary: 'Require something of one customer beyond the policy.',
    input: requirements('addCustomerRequirementRequest'),
    output: requirements('addCustomerRequirementResponse'),
    writes: true,
    codes: ['customer_not_found', 'too_many_attempts'],
    run: async (ports, call, input) => (await loadRequirements()).addCustomerRequirement(ports, call, input),
  }),
  procedure({
    service: 'customer',
    name: 'GetOnboardingRequirements',
    summary: 'Show what a customer has to provide, and the state of its compliance.',
    input: requirements('getOnboardingRequirementsRequest'),
    output: requirements('getOnboardingRequirementsResponse'),
    ofCustomer: true,
    run: async (ports, call) => (await loadRequirements()).onboardingRequirements(ports, call),
  }),
  procedure({
    service: 'customer',
    name: 'SubmitCustomerData',
    summary: 'Submit data for requirements; one wrong item refuses them all.',
    input: requirements('submitCustomerDataRequest'),
    output: requirements('submitCustomerDataResponse'),
    ofCustomer: true,
    writes: true,
    mostBodyBytes: MOST_DATA_BODY_BYTES,
    codes: ['too_many_attempts'],
    run: async (ports, call, input) => (await loadRequirements()).submitCustomerData(ports, call, input),
  }),
  procedure({
    service: 'customer',
    name: 'AcceptTerms',
    summary: 'Accept the terms of a requirement.',
    input: requirements('acceptTermsRequest'),
    output: requirements('acceptTermsResponse'),
    ofCustomer: true,
    writes: true,
    codes: ['terms_changed'],
    run: async (ports, call, input) => (await loadRequirements()).acceptTerms(ports, call, input),
  }),
  procedure({
    service: 'customer',
    name: 'GetAvailablePartners',
    summary: 'Compare what partners offer, best for the customer first.',
    input: offers('getAvailablePartnersRequest'),
    output: offers('getAvailablePartnersResponse'),
    run: async (ports, _call, input) => (await loadPlatformsOffers()).availablePartners(ports, input),
  }),
  procedure({
    service: 'customer',
    name: 'CreateOrder',
    summary: 'Create an order with a partner, or get the address to send the customer to.',
    input: offers('createOrderRequest'),
    output: offers('createOrderResponse'),
    ofCustomer: true,
    writes: true,
    codes: [
      'partner_not_found',
      'order_outside_offer',
      'compliance_required',
      'partner_refused',
      'partner_unavailable',
      'partner_answer_invalid',
    ],
    run: async (ports, call, input) => (await loadOrderCreation()).createOrder(ports, call, input),
  }),
];

/** @param serviceName `<svc>` of the paths */
export const procedureRoutes = (serviceName: string): RouteTable<Caller> => ({
  unknown: 'unknown_procedure',
  codes: ['partner_key_required', 'partner_key_invalid', 'unknown_procedure'],
  routes: PROCEDURES.map((one) => {
    const [service, name] = one.path.split('/');
    return { ...one, path: `/${serviceName}.core.v1.${service}.Service/${name}` };
  }),
});

type Describe = (publicUrl: string | undefined) => Promise<object>;

const route = routesOf<Describe>();

export const aboutRoutes: RouteTable<Describe> = {
  unknown: 'not_found',
  routes: [
    route({
      method: 'GET',
      path: '/partner/openapi.json',
      id: 'openapi',
      summary: 'This document.',
      answers: { 200: { description: 'OpenAPI 3.1.' } },
      run: ({ context: describe, connection }) => describe(connection.publicUrl),
    }),
  ],
};
