import type { ProblemCode } from '../../kernel/problems.ts';

/** What is said of each operation, and what it may refuse beyond what every call does. */
export const OPERATIONS: Readonly<
  Record<string, { readonly summary: string; readonly codes: readonly ProblemCode[] }>
> = {
  AddCustomerRequirement: {
    summary: 'Ask one customer for more than the policy does.',
    codes: ['customer_not_found', 'idempotency_key_reused', 'too_many_attempts'],
  },
  UpdateOrder: {
    summary: 'Move an order along, or add to it.',
    codes: [
      'order_not_found',
      'invalid_status_transition',
      'transaction_id_fixed',
      'order_version_mismatch',
      'idempotency_key_reused',
    ],
  },
  GetOrders: { summary: "The partner's orders, newest first.", codes: [] },
  GetOrderDetails: { summary: 'One order, with its history when asked for.', codes: ['order_not_found'] },
  GetOnboardingRequirements: {
    summary: 'What the customer has to give, and how far its compliance is.',
    codes: [],
  },
  SubmitCustomerData: {
    summary: 'Fulfil data requirements; one item that is wrong refuses them all.',
    codes: ['idempotency_key_reused', 'too_many_attempts'],
  },
  AcceptTerms: {
    summary: 'Accept the terms that a requirement names.',
    codes: ['terms_changed', 'idempotency_key_reused'],
  },
  GetAvailablePartners: { summary: 'What partners offer, the most for the customer first.', codes: [] },
  CreateOrder: {
    summary: 'Make an order with a partner, or send the customer to it.',
    codes: [
      'partner_not_found',
      'compliance_required',
      'partner_refused',
      'idempotency_key_reused',
      'partner_unavailable',
      'partner_answer_invalid',
    ],
  },
};
