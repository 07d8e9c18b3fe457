import { randomBytes } from 'node:crypto';
import { Hono } from 'hono/tiny';
import type * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { canonicalJson, sha256Hex } from '../../kernel/json.ts';
import { jsonOf } from '../../partner/creation/platform-answers.ts';
import { offeringSchema, quoteOf } from '../../partner/offers/offering.ts';
import { verifyWebhook } from '../../partner/outbound/webhook-signature.ts';
import { SEEDED_PARTNERS } from '../partners/seed-table.ts';
import {
  BEHAVIOUR_NAMES,
  BEHAVIOURS,
  type Behaviour,
  type BehaviourName,
  behaviourOfAmount,
  STEPS,
} from './behaviour-table.ts';
import type { Books } from './books.ts';
import { misanswered } from './misanswers.ts';
import { createOrderBody, instructionsFor, redirectOrderBody } from './requests.ts';

export interface PlatformPorts {
  readonly books: Books;
  readonly clock: Clock;
  /** Secrets that sign what is sent to this partner; null: none is known, and nothing can be verified. */
  readonly webhookSecrets: (partnerId: string) => Promise<readonly string[] | null>;
  /** From one update about an order to the next, milliseconds. */
  readonly stepMs: number;
  /** How late a slow answer is. */
  readonly slowMs: number;
}

/** `/bank`, `/pix`, `/redirect`: the sandbox's partners by where they answer. */
export const PLATFORM_PARTNERS = SEEDED_PARTNERS.map((partner) => ({
  ...partner,
  slug: partner.path.slice(1),
  sells: offeringSchema.parse(partner.offering),
}));
type PlatformPartner = (typeof PLATFORM_PARTNERS)[number];

const MOST_BODY_BYTES = 64 * 1024;

/**
 * The sandbox partner platform: a real HTTP service that takes the two outbound requests of the specification, keeps
 * books, and misbehaves when told to (docs/sandbox.md). It is another company: it knows the service by its calls alone.
 */
export function createPlatformApp(ports: PlatformPorts): Hono {
  const { books, clock } = ports;
  const app = new Hono();

  app.notFound(() => failure(404, 'There is nothing at this address.'));
  app.onError(() => failure(500, 'Something failed in the sandbox platform.'));
  app.get('/health', (context) => context.json({ status: 'ok' }));

  /** The switches: what a partner does until it is told otherwise. */
  app.get('/admin/behaviours', (context) =>
    context.json({
      partners: Object.fromEntries(PLATFORM_PARTNERS.map(({ slug }) => [slug, books.behaviourOf(slug)])),
      behaviours: BEHAVIOUR_NAMES,
    }),
  );
  app.post('/admin/behaviours/:partner', async (context) => {
    const partner = partnerAt(context.req.param('partner'));
    if (!partner) return failure(404, 'There is no such partner.');
    // A page in a browser cannot send this type to another site without asking.
    if (!context.req.header('content-type')?.startsWith('application/json'))
      return failure(415, 'Send application/json.');
    const given = jsonOf(await bodyOf(context.req.raw)) as { behaviour?: unknown } | undefined;
    const name = BEHAVIOUR_NAMES.find((one) => one === given?.behaviour);
    if (!name) return failure(400, `behaviour is one of ${BEHAVIOUR_NAMES.join(', ')}.`);
    books.setBehaviour(partner.slug, name);
    return context.json({ partner: partner.slug, behaviour: name });
  });
  app.get('/admin/orders/:partner', (context) =>
    context.json({
      orders: books.orders(context.req.param('partner')).map(({ orderId, steps, outcome, answer }) => ({
        orderId,
        externalOrderId: (JSON.parse(answer) as { externalOrderId?: string }).externalOrderId,
        outcome,
        updatesSent: steps,
      })),
    }),
  );

  app.post('/:partner/create-order', async (context) => {
    const partner = partnerAt(context.req.param('partner'));
    if (partner?.type !== 'INTEGRATION') return failure(404, 'There is no such partner.');
    const taken = await taking(partner, context.req.raw, createOrderBody);
    if (taken instanceof Response) return taken;
    const { order, digest } = taken;
    return acted(
      partner,
      order.orderId,
      digest,
      { ...order, rampType: order.type },
      (toAmount) => ({
        externalOrderId: `${partner.slug}_${randomBytes(8).toString('hex')}`,
        status: 'AWAITING_FUNDS',
        toAmount,
        depositInstructions: instructionsFor(order, partner.name),
      }),
      context.req.raw.signal,
    );
  });

  app.post('/:partner/redirect-order', async (context) => {
    const partner = partnerAt(context.req.param('partner'));
    if (partner?.type !== 'REDIRECT') return failure(404, 'There is no such partner.');
    const taken = await taking(partner, context.req.raw, redirectOrderBody);
    if (taken instanceof Response) return taken;
    const { order, digest } = taken;
    const session = context.req.header('idempotency-key') ?? randomBytes(12).toString('hex');
    return acted(
      partner,
      session,
      digest,
      order,
      (toAmount) => ({
        redirectUrl: `https://redirecta.sandbox.farelock.invalid/start/${randomBytes(12).toString('hex')}`,
        toAmount,
        rawResponse: { session, country: order.countryCode },
      }),
      context.req.raw.signal,
    );
  });

  /** Verifies and reads a request. A Response is a refusal. */
  async function taking<S extends z.ZodType>(
    partner: PlatformPartner,
    request: Request,
    schema: S,
  ): Promise<{ order: z.output<S>; digest: string } | Response> {
    const bytes = await bodyOf(request);
    if (bytes.length > MOST_BODY_BYTES) return failure(400, 'The body is too large.');
    const secrets = await ports.webhookSecrets(partner.partnerId);
    const body = new TextDecoder().decode(bytes);
    if (secrets !== null && !verifyWebhook(secrets, request.headers, body, clock.now()))
      return refusal(partner, 401, 'the signature is missing or not valid', 'The order could not be made.');
    const parsed = schema.safeParse(jsonOf(bytes));
    if (parsed.success) return { order: parsed.data, digest: sha256Hex(canonicalJson(parsed.data)) };
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') || 'the body';
    return refusal(partner, 400, `${where}: ${issue?.message ?? ''}`, 'The order is not complete.');
  }

  /** Does what the behaviour says around the one thing that counts: the order in the books, once. */
  async function acted(
    partner: PlatformPartner,
    id: string,
    digest: string,
    wanted: Parameters<typeof quoteOf>[1],
    make: (toAmount: string) => object,
    signal: AbortSignal,
  ): Promise<Response> {
    const call = books.countCall(partner.slug, id);
    const behaviour = behaviourFor(books.behaviourOf(partner.slug), wanted.fromAmount);
    const { before, answer } = behaviour;
    if (before && (!before.once || call === 1)) {
      const [reason, words] = WORDS[before.status];
      const retry = before.retryAfterSeconds;
      const headers: Record<string, string> = retry === undefined ? {} : { 'Retry-After': String(retry) };
      return refusal(partner, before.status, reason, words, headers);
    }
    const known = books.find(partner.slug, id);
    if (known && known.digest !== digest)
      return refusal(partner, 400, 'the same order with other data', 'The order could not be made.');
    let booked = known;
    if (!booked) {
      const quote = quoteOf(partner.sells, wanted);
      if (quote.kind === 'not_sold')
        return refusal(partner, 422, 'this is not sold', 'This currency or payment method is not offered.');
      if (quote.kind === 'outside_limits') {
        const { minAmount, maxAmount, fromCurrency } = quote.rail;
        const limits = `${minAmount} to ${maxAmount} ${fromCurrency}`;
        return refusal(partner, 422, `outside ${limits}`, `The amount must be between ${limits}.`);
      }
      const outcome = partner.type === 'REDIRECT' ? 'waiting' : (behaviour.outcome ?? 'processed');
      booked = books.book(
        { orderId: id, partner: partner.slug, digest, answer: JSON.stringify(make(quote.toAmount)), outcome },
        STEPS[outcome].length === 0 ? null : clock.now() + ports.stepMs,
      );
    }
    if (answer && (!('once' in answer) || call === 1))
      return misanswered(answer.kind, booked.answer, ports, signal);
    return new Response(booked.answer, { headers: { 'content-type': 'application/json' } });
  }

  return app;
}

const partnerAt = (slug: string): PlatformPartner | undefined =>
  PLATFORM_PARTNERS.find((partner) => partner.slug === slug);

/** The switch goes before the amount. */
const behaviourFor = (name: BehaviourName, amount: string): Behaviour =>
  BEHAVIOURS[name === 'normal' ? behaviourOfAmount(amount) : name];

const WORDS = {
  400: ['sandbox: made to be invalid', 'The order is not valid.'],
  422: ['sandbox: made to be outside the limits', 'The amount is outside the limits of this partner.'],
  503: ['sandbox: outage', 'The partner is not available at the moment.'],
} as const;

/** The error bodies of the specification: an object in Create Order, a text in Redirect Order. */
const refusal = (
  partner: PlatformPartner,
  status: number,
  reason: string,
  customerFacingReason: string,
  headers: Record<string, string> = {},
): Response =>
  Response.json(
    { error: partner.type === 'REDIRECT' ? customerFacingReason : { reason, customerFacingReason } },
    { status, headers },
  );

const failure = (status: number, error: string): Response => Response.json({ error }, { status });

/** Of a request, no more than is taken. */
async function bodyOf(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (;;) {
    const read = await reader?.read();
    if (!read || read.done) break;
    length += read.value.length;
    chunks.push(read.value);
    if (length > MOST_BODY_BYTES) {
      await reader?.cancel();
      break;
    }
  }
  return Buffer.concat(chunks);
}
