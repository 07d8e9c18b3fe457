import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import { instant } from '../kernel/clock.ts';
import { isProblem, type Problem, problem, problemBody } from '../kernel/problems.ts';
import { STORAGE_RETRY_S } from '../kernel/storage.ts';
import { storeTrouble } from '../store/trouble.ts';
import { storageFields } from '../store/watch.ts';
import { clientOf } from './attempts.ts';
import { readBody, readSignedBody, refuseQuery } from './body.ts';
import type { Escrows } from './booking/escrows.ts';
import { type Funds, shown } from './intents/funds.ts';
import type { Intents } from './intents/intents.ts';
import type { FlightsPorts } from './ports.ts';
import type { Pricing } from './search/pricing.ts';
import type { Health } from './wire.ts';

export const SERVICE_NAME = 'farelock-flights';
export const API_VERSION = '1.0.0';

/** What comes from the HTTP server, never from the request alone; an embedded service has none of it. */
type Env = {
  Variables: { requestId: string };
  Bindings: { clientAddress?: string | undefined; publicUrl?: string | undefined };
};
type Handler = (context: Context<Env>) => Promise<Response>;

/** As /ready says it. */
const AWAY_S = 5;

/**
 * The flight service over HTTP (CONTRACT, section 1). This file only translates: each path has one method, and its
 * schemas and its module are loaded when it is first called.
 */
export function createFlightsApp(
  ports: FlightsPorts,
  parts: {
    readonly escrows: Escrows;
    readonly intents: Intents;
    readonly pricing: Pricing;
    readonly funds: Funds;
  },
): Hono<Env> {
  const { paywall, clock } = ports;
  const { escrows, intents, pricing, funds } = parts;
  const app = new Hono<Env>();

  app.use('*', async (context, next) => {
    const requestId = ports.ids.next('req');
    context.set('requestId', requestId);
    // Whatever moves money, a GET of an order included, comes with a payment or in a POST.
    const { method, raw } = context.req;
    if (method !== 'GET' || raw.headers.has('payment-signature')) await ports.ready?.();
    await next();
    context.header('X-Request-Id', requestId);
    if (!context.res.headers.has('cache-control')) context.header('Cache-Control', 'no-store');
  });
  app.notFound(() => failure(problem('not_found')));
  app.onError((error, context) => {
    const storage = storeTrouble(error);
    if (!storage && isProblem(error, 'cluster_failed')) {
      ports.log('warn', 'cluster_away', {
        path: routePath(context.req.path),
        why: error.message,
        request_id: context.get('requestId'),
      });
      // Which node, and how it failed, is the operator's business.
      return failure(problem('cluster_failed', { retryAfter: AWAY_S }));
    }
    if (!storage && isProblem(error) && error.kind.status !== undefined) return failure(error);
    const known = isProblem(error, 'transaction_failed');
    ports.log('error', 'request_failed', {
      request_id: context.get('requestId'),
      path: routePath(context.req.path),
      ...storageFields(error),
      ...(known ? { error_code: error.code } : {}),
    });
    return failure(storage ?? problem('internal_error'));
  });

  /** One method a path; everything else, HEAD on a paid path included, is told which. */
  const route = (method: 'GET' | 'POST', path: string, free: boolean, run: Handler) =>
    app.all(path, async (context) => {
      const allowed = method === 'GET' && free ? ['GET', 'HEAD'] : [method];
      if (!allowed.includes(context.req.method)) {
        const refusal = problem('method_not_allowed', { detail: { allow: allowed } });
        return failure(refusal, { Allow: allowed.join(', ') });
      }
      refuseQuery(context.req.url);
      return run(context);
    });

  const asker = (context: Context<Env>): string => clientOf(ports.secrets, context.env?.clientAddress);

  const health = (status: Health['status']): Health => ({
    status,
    service: SERVICE_NAME,
    version: API_VERSION,
    time: instant(clock.now()),
  });

  route('GET', '/health', true, async (context) => context.json(health('ok')));

  route('GET', '/ready', true, async (context) => {
    if (ports.writable && !(await ports.writable())) {
      context.header('Retry-After', String(STORAGE_RETRY_S));
      return context.json(health('unavailable'), 503);
    }
    try {
      await ports.ready?.();
      const short = (await funds.short()).map(shown);
      if (short.length === 0) return context.json(health('ok'));
      context.header('Retry-After', '60');
      return context.json({ ...health('unavailable'), wallets: short }, 503);
    } catch (error) {
      ports.log('error', 'not_ready', storageFields(error));
      context.header('Retry-After', String(AWAY_S));
      return context.json(health('unavailable'), 503);
    }
  });

  route('GET', '/openapi.json', true, async (context) => {
    const { openapiDocument } = await import('./openapi/openapi.ts');
    return context.json(openapiDocument(ports.options, context.env?.publicUrl));
  });

  route('POST', '/air/search', false, async (context) => {
    const { searchRequest } = await import('./schema.ts');
    const { createSearch } = await import('./search/search.ts');
    const { body, bytes } = await readSignedBody(context.req.raw, searchRequest);
    const call = createSearch(ports, pricing)(body, addressOf(context), context.get('requestId'));
    if (!isSponsored(context.req.raw)) return paywall.charge(context.req.raw, call);
    const { createSponsored } = await import('./intents/sponsored.ts');
    return createSponsored(ports)(context.req.raw, bytes, call, context.env?.publicUrl);
  });

  route('POST', '/air/search-updates', false, async (context) => {
    const { searchUpdatesRequest } = await import('./schema.ts');
    const { searchUpdates } = await import('./search/search-updates.ts');
    return context.json(await searchUpdates(ports, await readBody(context.req.raw, searchUpdatesRequest)));
  });

  route('POST', '/air/offer-details', false, async (context) => {
    const { offerDetailsRequest } = await import('./schema.ts');
    const { createOfferDetails } = await import('./offers/offers.ts');
    const body = await readBody(context.req.raw, offerDetailsRequest);
    return paywall.charge(
      context.req.raw,
      await createOfferDetails(ports)(body, addressOf(context), asker(context)),
    );
  });

  route('POST', '/air/intents', false, async (context) => {
    const { createIntentRequest } = await import('./schema.ts');
    const body = await readBody(context.req.raw, createIntentRequest);
    return paywall.charge(context.req.raw, intents.creation(body, addressOf(context), asker(context)));
  });

  route('GET', '/air/intents/:intent_id', true, async (context) =>
    context.json(await intents.show(context.req.param('intent_id') ?? '')),
  );

  route('POST', '/affiliates', false, async (context) => {
    const { affiliateRequest } = await import('./schema.ts');
    const { createAffiliates } = await import('./affiliates/affiliates.ts');
    const body = await readBody(context.req.raw, affiliateRequest);
    const made = await createAffiliates(ports).register(body.wallet);
    return context.json(made.body, made.status);
  });

  route('GET', '/affiliates/:code', true, async (context) => {
    const { createAffiliates } = await import('./affiliates/affiliates.ts');
    return context.json(await createAffiliates(ports).show(context.req.param('code') ?? ''));
  });

  route('POST', '/air/book', false, async (context) => {
    const { bookRequest } = await import('./schema.ts');
    const { createBooking } = await import('./booking/booking.ts');
    const body = await readBody(context.req.raw, bookRequest);
    return paywall.charge(
      context.req.raw,
      createBooking(ports, escrows).book(body, addressOf(context), asker(context)),
    );
  });

  route('POST', '/air/refund-requests', false, async (context) => {
    const { refundRequest } = await import('./schema.ts');
    const { createRefunds } = await import('./refunds/requests.ts');
    const body = await readBody(context.req.raw, refundRequest);
    const who = {
      supportCode: context.req.header('X-Customer-Support-Code') ?? null,
      familyName: context.req.header('X-Passenger-Family-Name') ?? null,
      client: asker(context),
    };
    return paywall.charge(context.req.raw, createRefunds(ports).request(body, who, addressOf(context)));
  });

  route('GET', '/air/orders/:order_id', false, async (context) => {
    const { createOrders } = await import('./orders/orders.ts');
    const code = context.req.header('X-Customer-Support-Code') ?? null;
    const order = createOrders(ports)(
      context.req.param('order_id') ?? '',
      code,
      addressOf(context),
      asker(context),
    );
    return paywall.charge(context.req.raw, order);
  });

  app.all('/operator/*', async (context) => {
    const { createOperatorApi } = await import('./desk/http.ts');
    return createOperatorApi(ports)(context.req.raw, context.get('requestId'));
  });

  return app;
}

/** The address of this call as its client knows it. */
const addressOf = ({ req, env }: Context<Env>): string =>
  env?.publicUrl === undefined ? req.url : env.publicUrl + req.path;

const failure = (error: Problem, headers: Record<string, string> = {}): Response =>
  Response.json(problemBody(error), {
    status: error.status,
    headers: {
      ...headers,
      ...(Array.isArray(error.detail?.allow) ? { Allow: error.detail.allow.join(', ') } : {}),
      ...(error.status === 401 && error.code.startsWith('operator') ? { 'WWW-Authenticate': 'Bearer' } : {}),
      ...(error.retryAfter === undefined ? {} : { 'Retry-After': String(Math.ceil(error.retryAfter)) }),
    },
  });

/** A search that a gateway sponsors. A payment comes first. */
const isSponsored = (request: Request): boolean => {
  const names = [...request.headers.keys()].map((name) => name.toLowerCase());
  return (
    names.some((name) => name.startsWith('x-gateway-sponsored-')) && !names.includes('payment-signature')
  );
};

/** Paths without what stands in them: an id is nobody's business in a log. */
const routePath = (path: string): string => path.split('/').slice(0, 3).join('/');
