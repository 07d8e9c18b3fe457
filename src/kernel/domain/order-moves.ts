import { isDecimal, sameDecimal } from '../money.ts';

/** A partner order's statuses and moves, for the service, the tool and their tests (CONTRACT, section 11). */
export const ORDER_STATUSES = [
  'AWAITING_FUNDS',
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
  'REFUNDING',
  'REFUNDED',
  'CANCELED',
  'ERROR',
  'IN_REVIEW',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export const isOrderStatus = (text: unknown): text is OrderStatus => ORDER_STATUSES.some((status) => status === text);

/** A step's further condition (CONTRACT, section 11): the customer's funds, or a field of the update or order. */
type Guard = 'funds' | 'no_funds' | 'return_details' | 'source_transaction';

/** Every allowed step: from, to, and its conditions (CONTRACT, section 11). */
export const TRANSITIONS: Readonly<Record<OrderStatus, Readonly<Partial<Record<OrderStatus, readonly Guard[]>>>>> = {
  AWAITING_FUNDS: { FUNDS_RECEIVED: [], IN_REVIEW: [], CANCELED: [], ERROR: [] },
  IN_REVIEW: {
    AWAITING_FUNDS: ['no_funds'],
    FUNDS_RECEIVED: [],
    ERROR: [],
    REFUNDING: ['funds'],
    CANCELED: ['no_funds'],
  },
  FUNDS_RECEIVED: { IN_REVIEW: [], PAYMENT_SUBMITTED: [], PAYMENT_PROCESSED: [], REFUNDING: [], ERROR: [] },
  PAYMENT_SUBMITTED: { PAYMENT_PROCESSED: [], REFUNDING: [], ERROR: [] },
  PAYMENT_PROCESSED: { REFUNDING: ['return_details'] },
  REFUNDING: { REFUNDED: [], ERROR: [] },
  CANCELED: { REFUNDING: ['source_transaction'] },
  ERROR: { IN_REVIEW: [], FUNDS_RECEIVED: ['funds'], REFUNDING: ['funds'], CANCELED: ['no_funds'] },
  REFUNDED: {},
};

export const DEPOSIT_FIELDS = [
  'paymentMethod',
  'network',
  'amount',
  'currency',
  'fromAddress',
  'toAddress',
  'depositMessage',
  'bankName',
  'bankAddress',
  'bankRoutingNumber',
  'bankAccountNumber',
  'bankBeneficiaryName',
  'bankBeneficiaryAddress',
  'iban',
  'bic',
  'clabe',
  'accountHolderName',
  'blockchainMemo',
] as const;

/** The sample's names for three of these fields (CONTRACT, section 11). */
export const DEPOSIT_SYNONYMS = {
  accountNumber: 'bankAccountNumber',
  routingNumber: 'bankRoutingNumber',
  reference: 'depositMessage',
} as const satisfies Readonly<Record<string, (typeof DEPOSIT_FIELDS)[number]>>;

export const RETURN_FIELDS = ['reason', 'refundReferenceId'] as const;

export const MOST = { id: 100, reference: 200, deposit: 500, words: 1000 } as const;

/** Statuses that follow only after funds were seen. */
export const FUNDED: ReadonlySet<OrderStatus> = new Set<OrderStatus>([
  'FUNDS_RECEIVED',
  'PAYMENT_SUBMITTED',
  'PAYMENT_PROCESSED',
  'REFUNDING',
  'REFUNDED',
]);

export interface OrderStanding {
  readonly status: OrderStatus;
  /** True if the history or a source transaction shows them; null if unknown here. */
  readonly funds: boolean | null;
  readonly paymentProcessed: boolean;
  readonly sourceTransactionId: string | null;
  readonly destinationTransactionId: string | null;
  /** True if the order has return details. */
  readonly returned: boolean;
  /** Undefined if unknown: the service checks them. */
  readonly details?: OrderDetails | undefined;
}

interface OrderDetails {
  readonly sourceAmount: string;
  readonly sourceCurrency: string;
  readonly toAmount: string | null;
  readonly depositInstructions: object | undefined;
  readonly returnDetails: object | undefined;
}

interface WantedMove {
  readonly status?: OrderStatus | undefined;
  readonly sourceTransactionId?: string | undefined;
  readonly destinationTransactionId?: string | undefined;
  readonly reason?: string | undefined;
  readonly returnDetails?: object | undefined;
  readonly toAmount?: string | undefined;
  readonly depositInstructions?: object | undefined;
}

export type MoveRefusal =
  | {
      readonly kind: 'transition';
      readonly from: OrderStatus;
      readonly to: OrderStatus;
      readonly allowed: readonly OrderStatus[];
      /** The order's funds, if they prevent a step of the table; else null. */
      readonly funds: boolean | null;
    }
  | {
      readonly kind: 'required';
      readonly field: 'reason' | 'returnDetails' | 'sourceTransactionId';
      readonly from: OrderStatus;
      readonly to: OrderStatus;
    }
  | { readonly kind: 'fixed'; readonly field: 'sourceTransactionId' | 'destinationTransactionId' }
  | { readonly kind: 'finished'; readonly field: DetailField }
  | { readonly kind: 'deposit'; readonly faults: readonly DepositFault[] };

type DetailField = 'toAmount' | 'depositInstructions' | 'returnDetails';

interface DepositFault {
  readonly field: 'amount' | 'currency';
  readonly message: string;
}

/** Lists the statuses that may follow, in table order, whatever fields the step also needs. */
export const allowedFrom = ({ status, funds }: Pick<OrderStanding, 'status' | 'funds'>): OrderStatus[] =>
  (Object.entries(TRANSITIONS[status]) as [OrderStatus, readonly Guard[]][])
    .filter(([, guards]) => funds === null || !guards.includes(funds ? 'no_funds' : 'funds'))
    .map(([to]) => to);

/** True if any field is set: an empty message changes nothing. */
const saysSomething = (message: object | undefined): message is object =>
  Object.values(message ?? {}).some((value) => value !== undefined && value !== null);

/** ERROR always needs a reason. */
export const lacksReason = ({ status, reason }: WantedMove): boolean => status === 'ERROR' && reason === undefined;

/** Finds why an update is refused: by the table, the funds, then the required fields. */
export function refusalOf(order: OrderStanding, update: WantedMove): MoveRefusal | null {
  const from = order.status;
  const to = update.status ?? from;
  if (lacksReason(update)) return { kind: 'required', field: 'reason', from, to };
  const source = update.sourceTransactionId ?? order.sourceTransactionId;
  if (to !== from) {
    const funds = update.sourceTransactionId === undefined ? order.funds : true;
    const guards = TRANSITIONS[from][to];
    const allowed = allowedFrom({ status: from, funds });
    if (!guards || !allowed.includes(to))
      return { kind: 'transition', from, to, allowed, funds: guards ? funds : null };
    if (guards.includes('return_details') && !order.returned && !saysSomething(update.returnDetails))
      return { kind: 'required', field: 'returnDetails', from, to };
    if (guards.includes('source_transaction') && source === null)
      return { kind: 'required', field: 'sourceTransactionId', from, to };
  }
  // A source transaction is the customer's money and never changes; a destination may change until it is paid.
  if (order.sourceTransactionId !== null && source !== order.sourceTransactionId)
    return { kind: 'fixed', field: 'sourceTransactionId' };
  const { destinationTransactionId: destination = order.destinationTransactionId } = update;
  if (
    order.paymentProcessed &&
    order.destinationTransactionId !== null &&
    destination !== order.destinationTransactionId
  )
    return { kind: 'fixed', field: 'destinationTransactionId' };
  const { details } = order;
  if (!details) return null;
  const changed = changedDetails(details, update);
  const finished = changed.find((field) => isFinished(order, to, field));
  if (finished) return { kind: 'finished', field: finished };
  const faults = changed.includes('depositInstructions') ? depositFaults(details, update.depositInstructions) : [];
  return faults.length > 0 ? { kind: 'deposit', faults } : null;
}

export const changedDetails = (order: OrderDetails, update: WantedMove): DetailField[] => [
  ...(update.toAmount !== undefined && (order.toAmount === null || !sameDecimal(update.toAmount, order.toAmount))
    ? (['toAmount'] as const)
    : []),
  ...(['depositInstructions', 'returnDetails'] as const).filter((name) => {
    const given = update[name];
    return saysSomething(given) && !sameFields(given, order[name]);
  }),
];

/** True for details of money already paid out or returned; a refund after payment brings return details of its own. */
function isFinished({ status, paymentProcessed }: OrderStanding, to: OrderStatus, field: DetailField): boolean {
  if (field !== 'returnDetails') return paymentProcessed || status === 'REFUNDED';
  return status === 'REFUNDED' || (status === 'PAYMENT_PROCESSED' && to === status);
}

/** Checks that the deposit asks for the order's payment and nothing else. */
export function depositFaults(
  order: { readonly sourceAmount: string; readonly sourceCurrency: string },
  instructions: { readonly amount?: string | undefined; readonly currency?: string | undefined } = {},
): DepositFault[] {
  const { amount, currency } = instructions;
  const { sourceAmount, sourceCurrency } = order;
  return [
    ...(amount !== undefined && !(isDecimal(amount) && sameDecimal(amount, sourceAmount))
      ? [{ field: 'amount' as const, message: `must be the amount of the order, ${sourceAmount}.` }]
      : []),
    ...(currency !== undefined && currency !== sourceCurrency
      ? [{ field: 'currency' as const, message: `must be the currency of the order, ${sourceCurrency}.` }]
      : []),
  ];
}

/** Compares the fields that are set, in any order. */
const sameFields = (a: object, b: object | undefined): boolean => b !== undefined && sorted(a) === sorted(b);

const sorted = (value: object): string =>
  JSON.stringify(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .sort(([x], [y]) => (x < y ? -1 : 1)),
  );

export function standingAfter(order: OrderStanding, update: WantedMove): OrderStanding {
  const status = update.status ?? order.status;
  return {
    status,
    funds: FUNDED.has(status) || update.sourceTransactionId !== undefined ? true : order.funds,
    paymentProcessed: order.paymentProcessed || status === 'PAYMENT_PROCESSED',
    sourceTransactionId: update.sourceTransactionId ?? order.sourceTransactionId,
    destinationTransactionId: update.destinationTransactionId ?? order.destinationTransactionId,
    returned: order.returned || saysSomething(update.returnDetails),
    details: order.details && {
      ...order.details,
      ...Object.fromEntries(changedDetails(order.details, update).map((name) => [name, update[name]])),
    },
  };
}
