import * as z from 'zod';
import * as desk from '../partner/desk/schema.ts';
import * as offers from '../partner/offers/offer-schema.ts';
import * as requirements from '../partner/requirements/requirement-schema.ts';
import * as wire from '../partner/schema.ts';
import { plan } from './parts.ts';
import { type Published, published } from './published.ts';

/** The commands that speak with the partner service. */

const allowedStatuses = z.array(wire.orderStatus).optional().describe('Where the order may go from here.');
const seenOrder = z.strictObject({ ...wire.order.shape, allowedStatuses });
const shownOrder = z.strictObject({
  ...seenOrder.shape,
  history: z.array(wire.orderChange).optional().describe('Oldest first, with --history.'),
});
const redirect = z.strictObject({
  redirectUrl: z.url().optional().describe('Where the customer goes on, with a redirect partner.'),
  toAmount: z.string().optional().describe('Decimal, in the destination currency.'),
  orderId: z.string().optional().describe("Id of the redirection, for the operator's log of outbound calls."),
});

const row = z.int().describe('Number of the row, from 1.');
const line = z.int().describe('Line of the file on which the row begins, from 1.');
const failure = z.strictObject({
  row,
  line,
  orderId: z.string(),
  outcome: z.enum(['refused', 'held']),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
const applied = z.strictObject({
  file: z.string(),
  rows: z.int(),
  applied: z.int(),
  refused: z.int(),
  held: z.int().describe('Held back: an earlier row of the same order was refused.'),
  resultsFile: z.string(),
  failures: z.array(failure),
});
const plannedRow = z.strictObject({
  row,
  line,
  orderId: z.string(),
  from: wire.orderStatus.nullable(),
  to: wire.orderStatus.nullable(),
  kind: z.enum(['move', 'patch', 'repeat', 'settle', 'refuse', 'hold']),
  why: z.string().nullable(),
});

export const PARTNER_DOCUMENTS: Readonly<Record<string, Published>> = {
  'partner orders list': published(wire.getOrdersResponse, { list: 'orders' }),
  'partner orders show': published(shownOrder),
  'partner orders create': published(z.union([wire.order, redirect]), {
    plan: plan({ request: offers.createOrderRequest }),
  }),
  'partner orders update': published(seenOrder, {
    plan: plan({
      request: z.strictObject({
        ...wire.updateOrderRequest.shape,
        depositInstructions: wire.depositInstructions.optional(),
      }),
      allowedStatuses: z.array(wire.orderStatus),
    }),
  }),
  'partner orders watch': published(seenOrder, { streams: true }),
  'partner orders apply': published(applied, {
    plan: z.strictObject({
      dry_run: z.literal(true),
      file: z.string(),
      rows: z.int(),
      plan: z.array(plannedRow),
      done: z.int().describe('Rows that an earlier run has done.'),
    }),
  }),
  'partner offers': published(offers.getAvailablePartnersResponse, { list: 'partners' }),
  'partner requirements add': published(requirements.addCustomerRequirementResponse, {
    plan: plan({ request: requirements.addCustomerRequirementRequest }),
  }),
  'partner platform': published(
    z.strictObject({
      url: z.url(),
      partner_url: z.url().nullable().describe('The partner service that it updates.'),
      partners: z.array(
        z.strictObject({
          partner_id: z.string(),
          type: offers.partnerType,
          platform_url: z.url(),
          verifies_signatures: z.boolean(),
          moves_orders: z.boolean(),
        }),
      ),
    }),
  ),
  'requirements list': published(requirements.getOnboardingRequirementsResponse),
  'requirements submit': published(requirements.submitCustomerDataResponse, { plan: plan({}) }),
  'requirements accept-terms': published(requirements.acceptTermsResponse, {
    plan: plan({
      terms: z.array(z.strictObject({ termsUrl: z.string(), privacyPolicyUrl: z.string() })),
    }),
  }),
  'attestations list': published(desk.attestationRecords, { list: 'attestations' }),
  'attestations show': published(desk.openedAttestation),
  'attestations decide': published(desk.attestationRecord, {
    plan: plan({ attestation_id: z.string(), verdict: z.enum(['passed', 'rejected']) }),
  }),
  'keys partner list': published(desk.partnerKeys, { list: 'keys' }),
  'keys partner issue': published(desk.issuedPartnerKey, { plan: plan({}) }),
  'keys partner revoke': published(desk.partnerKey, { plan: plan({}) }),
  'keys partner rotate': published(desk.issuedPartnerKey, { plan: plan({}) }),
  'keys token': published(desk.customerToken, { plan: plan({}) }),
};
