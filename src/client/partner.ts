import type { Fetch } from '../kernel/http.ts';
import {
  isProblem,
  isProblemCode,
  type Problem,
  type ProblemCode,
  type ProblemOptions,
  problem,
} from '../kernel/problems.ts';
import type * as wire from '../wire/partner/index.ts';
import { ask, type CallOptions, type HttpAnswer, isRecord, messageOf, retryAfterOf } from './base/index.ts';

interface PartnerClientPorts {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  readonly serviceName: string;
  /** `flk_demo_…` or `flk_live_…`, read at the first call. */
  readonly apiKey: () => Promise<string>;
  /** The token of the call's customer, read when needed. */
  readonly customerToken: () => Promise<string>;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
}

interface WriteOptions extends CallOptions {
  /** The same key repeats the first answer (24 h). */
  readonly idempotencyKey?: string | undefined;
  /** The order's expected version. */
  readonly ifMatch?: string | undefined;
}

/**
 * A typed client of the partner service over Connect's unary JSON, also for deployments without our own fields. Raises
 * the Problems of the service and of `ask`.
 */
export function createPartnerClient(ports: PartnerClientPorts) {
  const { baseUrl, fetch, serviceName, timeoutMs = 30_000 } = ports;

  async function call<T>(
    service: 'partner' | 'customer',
    operation: string,
    body: object,
    options: WriteOptions,
    withCustomer = false,
  ): Promise<T> {
    const headers: Record<string, string> = {
      'X-API-Key': await ports.apiKey(),
      ...(withCustomer ? { Authorization: `Bearer ${await ports.customerToken()}` } : {}),
      ...(options.idempotencyKey === undefined ? {} : { 'Idempotency-Key': options.idempotencyKey }),
      ...(options.ifMatch === undefined ? {} : { 'If-Match': `"${options.ifMatch.replace(/^"|"$/g, '')}"` }),
    };
    const path = `/${serviceName}.core.v1.${service}.Service/${operation}`;
    const call = { baseUrl, fetch, method: 'POST' as const, path, headers, body };
    const answer = await ask(call, { timeoutMs, signal: options.signal });
    if (answer.status !== 200) throw connectProblemOf(answer);
    if (!isRecord(answer.body)) throw problem('unexpected_answer');
    // Typed as our service; the views take missing fields as absent.
    return answer.body as T;
  }

  return {
    async orders(request: Partial<wire.GetOrdersRequest>, options: CallOptions = {}): Promise<wire.GetOrdersResponse> {
      const page = await call<Partial<wire.GetOrdersResponse>>('partner', 'GetOrders', request, options);
      // ProtoJSON omits empty fields.
      const orders = page.orders ?? [];
      return { ...page, orders, totalCount: page.totalCount ?? orders.length };
    },
    async order(orderId: string, options: CallOptions & { includeHistory?: boolean } = {}) {
      const request = { orderId, ...(options.includeHistory && { includeHistory: true }) };
      return withOrder(await call<wire.GetOrderDetailsResponse>('partner', 'GetOrderDetails', request, options));
    },
    /** Reads an order with its history, unless another deployment refuses that. */
    async orderWithHistory(orderId: string, options: CallOptions = {}): Promise<wire.GetOrderDetailsResponse> {
      try {
        return await this.order(orderId, { ...options, includeHistory: true });
      } catch (error) {
        if (!isProblem(error, 'invalid_request')) throw error;
        return this.order(orderId, options);
      }
    },
    updateOrder: async (request: wire.UpdateOrderRequest, options: WriteOptions = {}) =>
      withOrder(await call<wire.UpdateOrderResponse>('partner', 'UpdateOrder', request, options)),
    addRequirement: (request: wire.AddCustomerRequirementRequest, options: WriteOptions = {}) =>
      call<wire.AddCustomerRequirementResponse>('partner', 'AddCustomerRequirement', request, options),
    async offers(request: wire.GetAvailablePartnersRequest, options: CallOptions = {}) {
      type Found = Partial<wire.GetAvailablePartnersResponse>;
      const found = await call<Found>('customer', 'GetAvailablePartners', request, options);
      return { partners: found.partners ?? [] };
    },
    createOrder: (request: wire.CreateOrderRequest, options: WriteOptions = {}) =>
      call<wire.CreateOrderResponse>('customer', 'CreateOrder', request, options, true),
    async requirements(options: CallOptions = {}): Promise<wire.GetOnboardingRequirementsResponse> {
      type Found = Partial<wire.GetOnboardingRequirementsResponse>;
      const found = await call<Found>('customer', 'GetOnboardingRequirements', {}, options, true);
      return {
        requirements: found.requirements ?? [],
        complianceStatus: found.complianceStatus ?? 'COMPLIANCE_STATUS_PENDING',
      };
    },
    submitData: (request: object, options: WriteOptions = {}) =>
      call<wire.SubmitCustomerDataResponse>('customer', 'SubmitCustomerData', request, options, true),
    acceptTerms: (request: wire.AcceptTermsRequest, options: WriteOptions = {}) =>
      call<wire.AcceptTermsResponse>('customer', 'AcceptTerms', request, options, true),
  };
}

/** @throws Problem `unexpected_answer` without an order */
function withOrder<T extends { readonly order: wire.Order }>(answer: T): T {
  const order: unknown = answer.order;
  if (isRecord(order) && typeof order.id === 'string' && typeof order.status === 'string') return answer;
  throw problem('unexpected_answer', { message: 'The service answered without the order.' });
}

export type PartnerClient = ReturnType<typeof createPartnerClient>;

/** Connect codes shared by other deployments, for answers without our reason. */
const BY_CODE: Readonly<Record<string, ProblemCode>> = {
  invalid_argument: 'invalid_request',
  out_of_range: 'invalid_request',
  failed_precondition: 'partner_refused',
  unauthenticated: 'partner_key_invalid',
  permission_denied: 'partner_key_invalid',
  not_found: 'not_found',
  already_exists: 'conflict',
  aborted: 'conflict',
  unimplemented: 'unknown_procedure',
  resource_exhausted: 'upstream_rate_limited',
  deadline_exceeded: 'timed_out',
  unavailable: 'not_ready',
  canceled: 'not_ready',
  internal: 'internal_error',
  unknown: 'internal_error',
  data_loss: 'internal_error',
} satisfies Record<wire.ConnectCode, ProblemCode> & Record<string, ProblemCode>;

/** Words of a partner service in place of the catalogue's. */
const WORDS: Partial<Record<ProblemCode, { message?: string; fix: string }>> = {
  order_not_found: { message: 'Unknown order.', fix: 'Find its id in the list.' },
  not_found: { message: 'Nothing was found.', fix: 'Check the id, and that it belongs to your partner account.' },
  upstream_rate_limited: { message: 'Too many requests.', fix: 'Try again in a moment.' },
};

const BY_STATUS: Readonly<Record<number, wire.ConnectCode>> = {
  400: 'invalid_argument',
  401: 'unauthenticated',
  403: 'permission_denied',
  404: 'not_found',
  409: 'aborted',
  422: 'failed_precondition',
  429: 'resource_exhausted',
  500: 'internal',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

/**
 * Makes a Problem of a Connect error (CONTRACT, section 10), by `detail.reason`, Connect's code or the status, keeping
 * `detail` and `Retry-After`.
 */
export function connectProblemOf(answer: HttpAnswer): Problem {
  const body = isRecord(answer.body) ? answer.body : {};
  const { reason, ...facts } = isRecord(body.detail) ? body.detail : {};
  const text = typeof body.message === 'string' && body.message !== '' ? body.message : null;
  const common: ProblemOptions = {
    ...retryAfterOf(answer),
    ...(Object.keys(facts).length > 0 ? { detail: facts } : {}),
  };
  if (isProblemCode(reason)) {
    const words = reason === 'invalid_status_transition' ? allowedWords(facts) : {};
    return problem(reason, { ...common, ...messageOf(reason, text), ...WORDS[reason], ...words });
  }
  const said = typeof body.code === 'string' ? body.code : (BY_STATUS[answer.status] ?? '');
  const code = Object.hasOwn(BY_CODE, said) ? BY_CODE[said] : undefined;
  return problem(code ?? 'unexpected_answer', {
    ...common,
    ...(code === undefined ? {} : WORDS[code]),
    ...(text ? { message: text } : code ? {} : { message: `The service answered ${answer.status}.` }),
    detail: { ...facts, status: answer.status, ...(said ? { connect_code: said } : {}) },
  });
}

function allowedWords({ from, to, allowed }: Record<string, unknown>): ProblemOptions {
  if (!Array.isArray(allowed) || typeof from !== 'string') return {};
  return {
    ...(typeof to === 'string' ? { message: `The order cannot go from ${from} to ${to}.` } : {}),
    fix: allowed.length === 0 ? `${from} is final.` : `From ${from} it can go to ${allowed.join(', ')}.`,
  };
}
