import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { type Call, createRouter, MOST_BODY_BYTES, readBytes, type Serve } from '../../http/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type HttpRequest, type HttpResponse, headerOf, json } from '../../kernel/http.ts';
import { randomIds } from '../../kernel/ids.ts';
import { canonicalJson, sha256Hex } from '../../kernel/json.ts';
import { silentLog } from '../../kernel/log.ts';
import { jsonOf, verifyWebhook } from '../../partner/platforms/index.ts';
import { offeringSchema, quoteOf } from '../../wire/partner/offers.ts';
import { countryCode, decimalString, text } from '../../wire/partner/parts.ts';
import { tableOf } from '../base/index.ts';
import { SEEDED_PARTNERS } from '../partners/index.ts';
import {
  BEHAVIOUR_NAMES,
  BEHAVIOURS,
  type Behaviour,
  type BehaviourName,
  behaviourOfAmount,
  MISANSWERS,
  right,
  STEPS,
} from './behaviour-table.ts';
import type { Books } from './books.ts';

/** Longer than any caller waits. */
const SILENCE_MS = 60_000;

export interface PlatformPorts {
  readonly books: Books;
  readonly clock: Clock;
  /** The partner's signing secrets; null if nothing can be verified. */
  readonly webhookSecrets: (partnerId: string) => Promise<readonly string[] | null>;
  /** Between updates of an order, ms. */
  readonly stepMs: number;
  /** A slow answer's delay, ms. */
  readonly slowMs: number;
}

/** `slug`: the first path segment, such as `bank`. */
export const PLATFORM_PARTNERS = SEEDED_PARTNERS.map((partner) => ({
  ...partner,
  slug: partner.path.slice(1),
  sells: offeringSchema.parse(partner.offering),
}));

type PlatformPartner = (typeof PLATFORM_PARTNERS)[number];

type PlatformCall = Call<PlatformPorts>;

/** The raw bytes, which the signature covers. */
const bodyOf = ({ request }: PlatformCall): Promise<Uint8Array> => readBytes(request, MOST_BODY_BYTES);

const TABLE = tableOf<PlatformPorts>({
  'GET /health': async () => ({ status: 'ok' }),
  'GET /admin/behaviours': async ({ context: { books } }) => ({
    partners: Object.fromEntries(PLATFORM_PARTNERS.map(({ slug }) => [slug, books.behaviourOf(slug)])),
    behaviours: BEHAVIOUR_NAMES,
  }),
  'POST /admin/behaviours/{partner}': turnBehaviour,
  'GET /admin/orders/{partner}': async ({ context: { books }, params }) => ({
    orders: books
      .orders(params.partner ?? '')
      .map(({ orderId, steps, outcome, answer }) => ({
        orderId,
        externalOrderId: (JSON.parse(answer) as { externalOrderId?: string }).externalOrderId,
        outcome,
        updatesSent: steps,
      })),
  }),
  'POST /{partner}/create-order': (call) => createOrder(call),
  'POST /{partner}/redirect-order': (call) => redirectOrder(call),
});

/**
 * The partner platform takes the specification's two outbound requests, keeps books, and misbehaves on demand
 * (docs/sandbox.md). It shares only calls with the service.
 */
export const createPlatformApp = (ports: PlatformPorts): { readonly fetch: Serve } => ({
  fetch: createRouter({
    table: TABLE,
    log: silentLog,
    ids: randomIds(ports.clock.now),
    enter: () => ports,
    failure: ({ code }) => {
      if (code === 'not_found' || code === 'method_not_allowed')
        return failure(404, 'There is nothing at this address.');
      if (code === 'payload_too_large') return failure(400, 'The body is too large.');
      return failure(500, 'Something failed in the sandbox platform.');
    },
  }),
});

async function turnBehaviour(call: PlatformCall): Promise<object> {
  const partner = partnerAt(call.params.partner);
  if (!partner) return failure(404, 'There is no such partner.');
  // A browser sends this type to another site only after asking it.
  if (!headerOf(call.request, 'content-type')?.startsWith('application/json'))
    return failure(415, 'Send application/json.');
  const given = jsonOf(await bodyOf(call)) as { behaviour?: unknown } | undefined;
  const name = BEHAVIOUR_NAMES.find((one) => one === given?.behaviour);
  if (!name) return failure(400, `behaviour must be one of ${BEHAVIOUR_NAMES.join(', ')}.`);
  call.context.books.setBehaviour(partner.slug, name);
  return { partner: partner.slug, behaviour: name };
}

/** A text field of the platform's two requests (spec/partner-service.md, Outbound). */
const field = text(200);

const direction = z.enum(['ONRAMP', 'OFFRAMP'], { error: 'must be ONRAMP or OFFRAMP.' });

const createOrderBody = z.object({
  orderId: field,
  customerId: field,
  fromCurrency: field,
  toCurrency: field,
  fromAmount: decimalString,
  type: direction,
  paymentMethod: field,
  customerPaymentDetailsDataId: field,
  customerWalletDataId: field,
  network: field,
});

const redirectOrderBody = z.object({
  countryCode,
  rampType: direction,
  fromCurrency: field,
  toCurrency: field,
  network: field,
  paymentMethod: field,
  fromAmount: decimalString,
  walletAddress: field.optional(),
});

const createOrder = taking('INTEGRATION', createOrderBody, (order, partner) => ({
  id: order.orderId,
  wanted: { ...order, rampType: order.type },
  make: (toAmount) => ({
    externalOrderId: `${partner.slug}_${randomBytes(8).toString('hex')}`,
    status: 'AWAITING_FUNDS',
    toAmount,
    depositInstructions: instructionsFor(order, partner.name),
  }),
}));

const redirectOrder = taking('REDIRECT', redirectOrderBody, (order, _partner, request) => {
  const session = headerOf(request, 'idempotency-key') ?? randomBytes(12).toString('hex');
  return {
    id: session,
    wanted: order,
    make: (toAmount) => ({
      redirectUrl: `https://redirecta.sandbox.farelock.invalid/start/${randomBytes(12).toString('hex')}`,
      toAmount,
      rawResponse: { session, country: order.countryCode },
    }),
  };
});

interface Wanted {
  readonly id: string;
  readonly wanted: Parameters<typeof quoteOf>[1];
  readonly make: (toAmount: string) => object;
}

/** Verifies and reads an order, then acts on it. */
function taking<S extends z.ZodType>(
  type: PlatformPartner['type'],
  schema: S,
  wantedOf: (order: z.output<S>, partner: PlatformPartner, request: HttpRequest) => Wanted,
) {
  return async (call: PlatformCall): Promise<HttpResponse> => {
    const { webhookSecrets, clock } = call.context;
    const partner = partnerAt(call.params.partner);
    if (partner?.type !== type) return failure(404, 'There is no such partner.');
    const bytes = await bodyOf(call);
    const secrets = await webhookSecrets(partner.partnerId);
    const body = new TextDecoder().decode(bytes);
    if (secrets !== null && !verifyWebhook(secrets, call.request.headers, body, clock.now()))
      return refusal(partner, 401, 'the signature is missing or not valid', 'The order could not be created.');
    const parsed = schema.safeParse(jsonOf(bytes));
    if (parsed.success) {
      const digest = sha256Hex(canonicalJson(parsed.data));
      return acted(call, partner, digest, wantedOf(parsed.data, partner, call.request));
    }
    const [issue] = parsed.error.issues;
    const where = issue?.path.join('.') || 'the body';
    return refusal(partner, 400, `${where}: ${issue?.message ?? ''}`, 'The order is not complete.');
  };
}

/** Books the order once, and misbehaves before or after that. */
async function acted(
  { context: ports, request }: PlatformCall,
  partner: PlatformPartner,
  digest: string,
  { id, wanted, make }: Wanted,
): Promise<HttpResponse> {
  const { books, clock } = ports;
  const refuse = (status: number, reason: string, words: string) => refusal(partner, status, reason, words);
  const calls = books.countCall(partner.slug, id);
  const behaviour = behaviourFor(books.behaviourOf(partner.slug), wanted.fromAmount);
  const { before, answer, refusesRepeats } = behaviour;
  if (before && (!before.once || calls === 1)) return refusal(partner, before.status, ...WORDS[before.status]);
  const known = books.find(partner.slug, id);
  if (known && known.digest !== digest)
    return refuse(400, 'the same order with other data', 'The order could not be created.');
  if (known && refusesRepeats) return refuse(422, 'duplicate order', 'This order exists already.');
  let booked = known;
  if (!booked) {
    const quote = quoteOf(partner.sells, wanted);
    if (quote.kind === 'not_sold')
      return refuse(422, 'this is not offered', 'This currency or payment method is not offered.');
    if (quote.kind === 'too_fine') return refuse(422, 'too many decimals', 'The amount has too many decimals.');
    if (quote.kind === 'outside_limits') {
      const { minAmount, maxAmount, fromCurrency } = quote.rail;
      const limits = `${minAmount} to ${maxAmount} ${fromCurrency}`;
      return refuse(422, `outside ${limits}`, `The amount must be between ${limits}.`);
    }
    const outcome = partner.type === 'REDIRECT' ? 'waiting' : (behaviour.outcome ?? 'processed');
    const answer = JSON.stringify(make(quote.toAmount));
    const dueAtMs = STEPS[outcome].length === 0 ? null : clock.now() + ports.stepMs;
    booked = books.book({ orderId: id, partner: partner.slug, digest, answer, outcome, dueAtMs });
  }
  if (!answer || (answer.once && calls > 1)) return right(booked.answer);
  if (answer.kind === 'slow' || answer.kind === 'silent')
    await clock.sleep(answer.kind === 'slow' ? ports.slowMs : SILENCE_MS, request.signal);
  return MISANSWERS[answer.kind](booked.answer);
}

const partnerAt = (slug: string | undefined): PlatformPartner | undefined =>
  PLATFORM_PARTNERS.find((partner) => partner.slug === slug);

/** The behaviour that the switch sets, else the amount. */
const behaviourFor = (name: BehaviourName, amount: string): Behaviour =>
  BEHAVIOURS[name === 'normal' ? behaviourOfAmount(amount) : name];

const WORDS: Record<400 | 422 | 503, readonly [reason: string, words: string, headers?: Record<string, string>]> = {
  400: ['sandbox: made to be invalid', 'The order is not valid.'],
  422: ['sandbox: made to be outside the limits', 'The amount is outside the limits of this partner.'],
  503: ['sandbox: outage', 'The partner is not available at the moment.', { 'Retry-After': '1' }],
};

/** Answers with an error: an object in Create Order, a text in Redirect Order. */
const refusal = (
  partner: PlatformPartner,
  status: number,
  reason: string,
  customerFacingReason: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse =>
  json(
    { error: partner.type === 'REDIRECT' ? customerFacingReason : { reason, customerFacingReason } },
    status,
    headers,
  );

const failure = (status: number, error: string): HttpResponse => json({ error }, status);

/** Makes payment instructions with published example numbers, or plainly invented ones. */
function instructionsFor(order: z.output<typeof createOrderBody>, bankName: string): Record<string, string> {
  const common = { paymentMethod: order.paymentMethod, amount: order.fromAmount, currency: order.fromCurrency };
  if (order.type === 'OFFRAMP')
    return {
      ...common,
      network: order.network,
      toAddress: 'sandbox-deposit-address-do-not-send',
      blockchainMemo: order.orderId,
    };
  const bank = { ...common, bankName, accountHolderName: `${bankName} (sandbox)`, depositMessage: order.orderId };
  if (order.paymentMethod.endsWith('_SEPA')) return { ...bank, iban: 'DE89370400440532013000', bic: 'COBADEFFXXX' };
  if (order.paymentMethod.endsWith('_SPEI')) return { ...bank, clabe: '032180000118359719' };
  if (order.paymentMethod.endsWith('_PIX')) return bank;
  return {
    ...bank,
    bankRoutingNumber: '021000021',
    bankAccountNumber: '000123456789',
    bankBeneficiaryName: `${bankName} (sandbox)`,
  };
}
