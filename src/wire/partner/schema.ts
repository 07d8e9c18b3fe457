import * as z from 'zod';
import { DEPOSIT_FIELDS, DEPOSIT_SYNONYMS, MOST, ORDER_STATUSES } from '../../kernel/domain/order-moves.ts';
import { decimalString, identifier, text, wholeNumber } from './parts.ts';

/** Orders on the wire (spec/partner-service.md, Resources; CONTRACT, sections 10 and 11). */

export const orderStatus = z.enum(ORDER_STATUSES);
export { ORDER_STATUSES, type OrderStatus } from '../../kernel/domain/order-moves.ts';

export const TRANSACTION_TYPES = ['ONRAMP', 'OFFRAMP'] as const;
export const transactionType = z.enum(TRANSACTION_TYPES);
export type TransactionType = z.output<typeof transactionType>;

const line = text(MOST.deposit);

const depositFields = Object.fromEntries(DEPOSIT_FIELDS.map((field) => [field, line.optional()])) as {
  [K in (typeof DEPOSIT_FIELDS)[number]]: z.ZodOptional<typeof line>;
};

export const depositInstructions = z.strictObject(depositFields);
export type DepositInstructions = z.output<typeof depositInstructions>;

/** Deposit instructions as sent: renames the synonyms of the specification's sample, and refuses duplicates. */
export const depositInstructionsInput = z
  .strictObject({
    ...depositFields,
    accountNumber: line.optional(),
    routingNumber: line.optional(),
    reference: line.optional(),
  })
  .superRefine((given, context) => {
    for (const [synonym, name] of Object.entries(DEPOSIT_SYNONYMS)) {
      const message = `is another name for ${name}: give only one of them.`;
      if (Object.hasOwn(given, synonym) && Object.hasOwn(given, name))
        context.addIssue({ code: 'custom', path: [synonym], message });
    }
  })
  .transform(
    ({ accountNumber, routingNumber, reference, ...own }): DepositInstructions => ({
      ...own,
      ...(accountNumber !== undefined && { bankAccountNumber: accountNumber }),
      ...(routingNumber !== undefined && { bankRoutingNumber: routingNumber }),
      ...(reference !== undefined && { depositMessage: reference }),
    }),
  );

export const returnDetails = z.strictObject({
  reason: text(MOST.words).optional(),
  refundReferenceId: text(MOST.reference).optional(),
});
export type ReturnDetails = z.output<typeof returnDetails>;

const rfc3339 = z.iso.datetime();

/** An order. `customerFacingReason` and `version` extend the specification. */
export const order = z.strictObject({
  id: z.string(),
  customerId: z.string().optional(),
  externalId: z.string().optional(),
  partnerId: z.string(),
  status: orderStatus,
  sourceCurrency: z.string(),
  sourceAmount: z.string(),
  destinationCurrency: z.string(),
  destinationAmount: z.string().optional(),
  transactionType,
  network: z.string(),
  depositInstructions: depositInstructions.optional(),
  customerPaymentDetailsDataId: z.string().optional(),
  customerWalletDataId: z.string().optional(),
  sourceTransactionId: z.string().optional(),
  destinationTransactionId: z.string().optional(),
  paymentMethod: z.string(),
  reason: z.string().optional(),
  customerFacingReason: z.string().optional(),
  returnDetails: returnDetails.optional(),
  createdAt: rfc3339,
  updatedAt: rfc3339,
  version: z.int(),
});
export type Order = z.output<typeof order>;

export const updateOrderRequest = z.strictObject({
  orderId: identifier,
  status: orderStatus.optional(),
  sourceTransactionId: text(MOST.reference).optional(),
  destinationTransactionId: text(MOST.reference).optional(),
  depositInstructions: depositInstructionsInput.optional(),
  reason: text(MOST.words).optional(),
  customerFacingReason: text(MOST.words).optional(),
  returnDetails: returnDetails.optional(),
  toAmount: decimalString.optional(),
});
export type UpdateOrderRequest = z.output<typeof updateOrderRequest>;

/** `allowedStatuses`, the possible next ones, extends the specification. */
export const updateOrderResponse = z.strictObject({ order, allowedStatuses: z.array(orderStatus) });
export type UpdateOrderResponse = z.output<typeof updateOrderResponse>;

/** `pageSize` and `pageToken` extend the specification. */
export const getOrdersRequest = z.strictObject({
  status: orderStatus.optional(),
  pageSize: wholeNumber(1, 200).default(50),
  pageToken: text(400).optional(),
});
export type GetOrdersRequest = z.output<typeof getOrdersRequest>;

export const getOrdersResponse = z.strictObject({
  orders: z.array(order),
  totalCount: z.int(),
  nextPageToken: z.string().optional(),
});
export type GetOrdersResponse = z.output<typeof getOrdersResponse>;

/** `includeHistory` extends the specification. */
export const getOrderDetailsRequest = z.strictObject({
  orderId: identifier,
  includeHistory: z.boolean({ error: 'must be true or false.' }).default(false),
});
export type GetOrderDetailsRequest = z.output<typeof getOrderDetailsRequest>;

export const orderChange = z.strictObject({
  version: z.int(),
  fromStatus: orderStatus.optional(),
  toStatus: orderStatus,
  fields: z.array(z.string()),
  at: rfc3339,
  /** `key:` and the id of the key that made the change, `platform`, or `seed`. */
  actor: z.string().optional(),
  /** The previous values of the fields that had one. */
  previous: updateOrderRequest
    .omit({ orderId: true, status: true, depositInstructions: true })
    .extend({ depositInstructions: depositInstructions.optional() })
    .optional(),
});
export type OrderChange = z.output<typeof orderChange>;

/** `allowedStatuses` and `history` (oldest first, if requested) extend the specification. */
export const getOrderDetailsResponse = z.strictObject({
  order,
  allowedStatuses: z.array(orderStatus),
  history: z.array(orderChange).optional(),
});
export type GetOrderDetailsResponse = z.output<typeof getOrderDetailsResponse>;
