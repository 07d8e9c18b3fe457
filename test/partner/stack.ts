import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { countMove } from '../../src/partner/orders/order-record.ts';
import { openStore } from '../../src/service/home.ts';
import { openService } from '../../src/service/index.ts';
import type { ServiceOptions } from '../../src/service/types.ts';
import { runningClock } from '../flights/world.ts';
import { migratedFile } from '../service/migrated.ts';
import { type WebFetch, webService } from '../web.ts';

/**
 * The partner service as a stranger meets it: the whole composition on a home of its own, reached through `fetch`
 * alone. Keys and tokens come from the operator's routes. The tables are touched in one place: to lay an order that
 * awaits its funds, for tests that are not about how orders are made.
 */

const BASE_URL = 'http://service.test';

export interface Answer<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** What a partner sees of an order. */
export interface SeenOrder {
  readonly id: string;
  readonly status: string;
  readonly customerId?: string;
  readonly externalId?: string;
  readonly partnerId: string;
  readonly sourceAmount: string;
  readonly destinationAmount?: string;
  readonly customerPaymentDetailsDataId?: string;
  readonly customerWalletDataId?: string;
  readonly sourceTransactionId?: string;
  readonly destinationTransactionId?: string;
  readonly depositInstructions?: Readonly<Record<string, string>>;
  readonly returnDetails?: Readonly<Record<string, string>>;
  readonly reason?: string;
  readonly customerFacingReason?: string;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly detail?: {
    readonly reason?: string;
    readonly issues?: readonly { readonly path: string; readonly message: string }[];
    readonly allowed?: readonly string[];
  } & Readonly<Record<string, unknown>>;
}

/** An order, or why there is none. */
export type OrderAnswer = { readonly order: SeenOrder } & Failure;

export interface CallOptions {
  /** `X-API-Key`; null sends none. */
  readonly key?: string | null;
  /** The customer's bearer token; null sends none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
}

/** Calls a path with a JSON body, or with what a string holds. */
export function callerOf(fetch: WebFetch, baseUrl = BASE_URL) {
  return async <T = Record<string, unknown>>(
    path: string,
    body: unknown,
    { key, token, headers = {}, method = 'POST' }: CallOptions = {},
  ): Promise<Answer<T>> => {
    const bare = body === undefined || method === 'GET' || method === 'HEAD';
    const response = await fetch(
      new Request(`${baseUrl}${path}`, {
        method,
        headers: {
          ...(bare ? {} : { 'content-type': 'application/json' }),
          ...(key ? { 'x-api-key': key } : {}),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...headers,
        },
        ...(bare ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
    );
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T, headers: response.headers };
  };
}

export const PARTNERS = ['par_sandbox_bank', 'par_sandbox_pix', 'par_sandbox_redirect'] as const;
export const [BANK, PIX, REDIRECT] = PARTNERS;
export const ANA = 'cus_demo_ana';
export const BO = 'cus_demo_bo';
/** Of her everything is still asked. */
export const EVA = 'cus_demo_eva';

/** The seeded order that the laid ones are like: 250 EUR to SOLANA_USDC, awaiting its funds. */
const WAITING = 'rmp_demo_waiting';

/** An order that the sandbox bank takes from the customer Ana. */
export const ORDER = {
  partnerId: BANK,
  countryCode: 'BRA',
  rampType: 'ONRAMP',
  fromCurrency: 'BRL',
  toCurrency: 'SOLANA_USDC',
  fromAmount: '60',
  paymentMethod: 'BRA_PIX',
};

/** The operations, by service. */
export const OPERATIONS = {
  partner: ['AddCustomerRequirement', 'UpdateOrder', 'GetOrders', 'GetOrderDetails'],
  customer: ['GetOnboardingRequirements', 'GetAvailablePartners', 'CreateOrder', 'SubmitCustomerData', 'AcceptTerms'],
} as const;

export const pathOf = (service: 'partner' | 'customer', operation: string, name = 'farelock'): string =>
  `/${name}.core.v1.${service}.Service/${operation}`;

export interface StackOptions extends Partial<ServiceOptions> {
  /** Reaches a service elsewhere in place of one in this process. */
  readonly fetch?: WebFetch;
}

/** A service on a home of its own, with a key of the sandbox bank and a token of a customer. */
export async function openStack(given: StackOptions = {}) {
  const home = given.home ?? mkdtempSync(join(tmpdir(), 'farelock-partner-'));
  if (!given.databaseUrl) await migratedFile(home);
  const clock = runningClock();
  const open = async (more: Partial<ServiceOptions> = {}) =>
    webService(await openService({ clock, ...given, ...more, home }));
  const service = await open();
  const call = callerOf((request) => service.fetch(request));
  const operatorKey = readFileSync(await service.operatorKeyFile(), 'utf8').trim();

  /** The operator's desk. */
  const operator = async <T = Record<string, unknown>>(path: string, body?: unknown): Promise<T> => {
    const answer = await call<T>(`/operator/${path}`, body, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${operatorKey}` },
    });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const issueKey = (partnerId: string) =>
    operator<{ key_id: string; key: string }>('partner-keys', { partner_id: partnerId, name: 'test' });
  const issueToken = async (customerId: string, minutes?: number) =>
    (
      await operator<{ token: string }>('customer-tokens', {
        customer_id: customerId,
        ...(minutes === undefined ? {} : { ttl_minutes: minutes }),
      })
    ).token;

  const store = await openStore(given.databaseUrl ?? join(home, 'service.db'));
  let laid = 0;

  const { key } = await issueKey(BANK);
  const token = await issueToken(ANA);

  const partner = <T = Record<string, unknown>>(operation: string, body: unknown, more: CallOptions = {}) =>
    call<T>(pathOf('partner', operation), body, { key, ...more });
  const customer = <T = Record<string, unknown>>(operation: string, body: unknown, more: CallOptions = {}) =>
    call<T>(pathOf('customer', operation), body, { key, token, ...more });

  return {
    home,
    clock,
    service,
    open,
    call,
    operator,
    issueKey,
    issueToken,
    key,
    token,
    partner,
    customer,

    /** An order of the sandbox bank's that awaits its funds. */
    async order(): Promise<SeenOrder> {
      const orderId = `rmp_test_${String(++laid).padStart(6, '0')}`;
      const atMs = clock.now();
      const like = await store
        .selectFrom('partner_orders')
        .selectAll()
        .where('order_id', '=', WAITING)
        .executeTakeFirstOrThrow();
      await store
        .insertInto('partner_orders')
        .values({
          ...like,
          order_id: orderId,
          external_id: `ext-${orderId}`,
          customer_id: ANA,
          customer_payment_details_data_id: 'dat_bank',
          customer_wallet_data_id: 'dat_wallet',
          deposit_instructions_sealed: null,
          version: 1,
          created_at_ms: atMs,
          updated_at_ms: atMs,
        })
        .execute();
      await countMove(store, {
        partnerId: like.partner_id,
        environment: like.environment,
        from: null,
        to: 'AWAITING_FUNDS',
      });
      await store
        .insertInto('partner_order_changes')
        .values({
          order_id: orderId,
          version: 1,
          from_status: null,
          to_status: 'AWAITING_FUNDS',
          fields: '[]',
          actor: 'platform',
          request_id: 'req_test',
          at_ms: atMs,
        })
        .execute();
      return this.show(orderId);
    },

    /** An order that CreateOrder made, as its customer sees it. */
    async created(body: object = {}, more: CallOptions = {}): Promise<SeenOrder> {
      const made = await customer<OrderAnswer>('CreateOrder', { ...ORDER, ...body }, more);
      if (made.status !== 200) throw new Error(`CreateOrder: ${made.status} ${JSON.stringify(made.body)}`);
      return made.body.order;
    },

    async show(orderId: string): Promise<SeenOrder> {
      const seen = await partner<OrderAnswer>('GetOrderDetails', { orderId });
      if (seen.status !== 200) throw new Error(`GetOrderDetails: ${seen.status} ${JSON.stringify(seen.body)}`);
      return seen.body.order;
    },

    /** From here on nothing can be looked up: who calls is the first thing that fails. */
    async breakDatabase(): Promise<void> {
      await sql`drop table partner_keys`.execute(store);
    },

    async close() {
      await store.destroy();
      await service.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type Stack = Awaited<ReturnType<typeof openStack>>;
