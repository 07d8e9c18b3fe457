import type { Fetch } from '../kernel/http.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import type {
  AcceptTermsRequest,
  AcceptTermsResponse,
  AddCustomerRequirementRequest,
  AddCustomerRequirementResponse,
  CreateOrderRequest,
  CreateOrderResponse,
  GetAvailablePartnersRequest,
  GetAvailablePartnersResponse,
  GetOnboardingRequirementsResponse,
  GetOrderDetailsResponse,
  GetOrdersRequest,
  GetOrdersResponse,
  Order,
  SubmitCustomerDataResponse,
  UpdateOrderRequest,
  UpdateOrderResponse,
} from '../wire/partner/index.ts';
import { ask, type CallOptions, type HttpAnswer, isRecord } from './base/index.ts';
import { connectProblemOf } from './connect.ts';

interface PartnerClientPorts {
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** `<svc>` of the procedure paths. */
  readonly serviceName: string;
  /** `flk_demo_…` or `flk_live_…`; asked for with the first call. */
  readonly apiKey: () => Promise<string>;
  /** Of the customer whom a call concerns; asked for where a call needs it. */
  readonly customerToken: () => Promise<string>;
  /** For each exchange (default 30 s). */
  readonly timeoutMs?: number | undefined;
}

interface WriteOptions extends CallOptions {
  /** The same key gives the first answer again (24 h). */
  readonly idempotencyKey?: string | undefined;
  /** The version that the order is expected to have. */
  readonly ifMatch?: string | undefined;
}

/**
 * The partner service, typed: Connect's unary JSON over any fetch. It reads the answers of other deployments too, which
 * lack the fields that are ours.
 * Problems: those that the service answers with, and the transport's (`network_unreachable`, `timed_out`,
 * `unexpected_answer`).
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
    const answer: HttpAnswer = await ask(
      { baseUrl, fetch, method: 'POST', path, headers, body },
      { timeoutMs, signal: options.signal },
    );
    if (answer.status !== 200) throw connectProblemOf(answer);
    if (!isRecord(answer.body)) throw problem('unexpected_answer');
    // The wire's types are the service's own; what another deployment leaves out is read as absent by the views.
    return answer.body as T;
  }

  return {
    async orders(request: Partial<GetOrdersRequest>, options: CallOptions = {}): Promise<GetOrdersResponse> {
      const page = await call<Partial<GetOrdersResponse>>('partner', 'GetOrders', request, options);
      // ProtoJSON leaves out what is empty.
      const orders = page.orders ?? [];
      return { ...page, orders, totalCount: page.totalCount ?? orders.length };
    },
    order: async (orderId: string, options: CallOptions & { includeHistory?: boolean } = {}) =>
      withOrder(
        await call<GetOrderDetailsResponse>(
          'partner',
          'GetOrderDetails',
          { orderId, ...(options.includeHistory ? { includeHistory: true } : {}) },
          options,
        ),
      ),
    /** With its history, where the service keeps one: another deployment may refuse to be asked. */
    async orderWithHistory(orderId: string, options: CallOptions = {}): Promise<GetOrderDetailsResponse> {
      try {
        return await this.order(orderId, { ...options, includeHistory: true });
      } catch (error) {
        if (!isProblem(error, 'invalid_request')) throw error;
        return this.order(orderId, options);
      }
    },
    updateOrder: async (request: UpdateOrderRequest, options: WriteOptions = {}) =>
      withOrder(await call<UpdateOrderResponse>('partner', 'UpdateOrder', request, options)),
    addRequirement: (request: AddCustomerRequirementRequest, options: WriteOptions = {}) =>
      call<AddCustomerRequirementResponse>('partner', 'AddCustomerRequirement', request, options),
    async offers(
      request: GetAvailablePartnersRequest,
      options: CallOptions = {},
    ): Promise<GetAvailablePartnersResponse> {
      const found = await call<Partial<GetAvailablePartnersResponse>>(
        'customer',
        'GetAvailablePartners',
        request,
        options,
      );
      return { partners: found.partners ?? [] };
    },
    createOrder: (request: CreateOrderRequest, options: WriteOptions = {}) =>
      call<CreateOrderResponse>('customer', 'CreateOrder', request, options, true),
    async requirements(options: CallOptions = {}): Promise<GetOnboardingRequirementsResponse> {
      const found = await call<Partial<GetOnboardingRequirementsResponse>>(
        'customer',
        'GetOnboardingRequirements',
        {},
        options,
        true,
      );
      return {
        requirements: found.requirements ?? [],
        complianceStatus: found.complianceStatus ?? 'COMPLIANCE_STATUS_PENDING',
      };
    },
    submitData: (request: object, options: WriteOptions = {}) =>
      call<SubmitCustomerDataResponse>('customer', 'SubmitCustomerData', request, options, true),
    acceptTerms: (request: AcceptTermsRequest, options: WriteOptions = {}) =>
      call<AcceptTermsResponse>('customer', 'AcceptTerms', request, options, true),
  };
}

/** @throws Problem `unexpected_answer` for an answer without the order that it is about */
function withOrder<T extends { readonly order: Order }>(answer: T): T {
  const order: unknown = answer.order;
  if (isRecord(order) && typeof order.id === 'string' && typeof order.status === 'string') return answer;
  throw problem('unexpected_answer', { message: 'The service answered without the order.' });
}

export type PartnerClient = ReturnType<typeof createPartnerClient>;
