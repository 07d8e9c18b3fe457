import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANA, type Answer, type Failure, ORDER, openStack, type Stack } from '../partner/stack.ts';
import { isProof, rounds, seedOr } from '../rounds.ts';
import { brokenText, contentType, mutated, oddHeaders, textOf } from './fuzz/broken.ts';
import { type Operation, operationsOf, type ServedDocument } from './fuzz/document.ts';
import { type Known, validOf } from './fuzz/valid.ts';

/**
 * Generated bodies against every operation of the partner service, from the description that it serves: whatever is
 * sent, the answer is a documented one, nothing fails inside, and a refused field is named. `npm run fuzz` runs longer.
 */

const RUNS = rounds(700, 5_000);
const SEED = seedOr(20_261_121);

const KNOWN: Known = {
  orderId: ['$order', '$order', 'rmp_demo_waiting', 'rmp_demo_pix', 'rmp_nothing'],
  customerId: [ANA, 'cus_demo_eva', 'cus_nobody'],
  partnerId: ['par_sandbox_bank', 'par_sandbox_pix', 'par_sandbox_redirect', 'par_nobody'],
  countryCode: ['BRA', 'DEU', 'MEX', 'XXX'],
  fromCurrency: ['BRL', 'EUR', 'SOLANA_USDC'],
  toCurrency: ['SOLANA_USDC', 'EUR', 'BRL'],
  fromAmount: ['60', '120.5', '0', '-1', '1e3', '999999999999999999'],
  toAmount: ['1', '1.50', '0.000000000000000001', '-1'],
  paymentMethod: ['BRA_PIX', 'DEU_SEPA', 'nothing'],
  status: ['FUNDS_RECEIVED', 'ERROR', 'IN_REVIEW', 'REFUNDING', 'CANCELED', 'LOST', 1],
  sourceTransactionId: ['src', 'src-2'],
  destinationTransactionId: ['dst', 'dst-2'],
  depositInstructions: [
    { iban: 'DE89370400440532013000' },
    { accountNumber: '1', reference: 'r' },
    { iban: 1 },
  ],
  returnDetails: [{ reason: 'Returned.' }, {}, { refundId: 'x' }],
  customerFacingReason: ['The bank is slow.'],
  reason: ['The bank refused.', ''],
  termsUrl: ['$terms', 'https://example.org/terms'],
  iban: [{ accountNumber: 'DE89370400440532013000', country: 'DEU', bic: 'COBADEFFXXX' }, {}],
  clabe: [{ accountNumber: '032180000118359719' }],
  pix: [{ pixKey: 'ana@example.org' }, { brCode: 'x', pixKey: 'y' }],
  email: [{ value: 'ana@example.org' }, { value: 'nobody' }, { value: null }],
  birthDate: [{ date: '1990-12-10' }, { date: '2090-02-30' }],
  cryptoWallet: [{ address: '0x52908400098527886E0F7030069857D2E4169EE7', type: 'ETHEREUM' }],
  pageToken: ['WzEsMiwzXQ', 'x'],
  maxAgeDays: [30, 0, '30', 1.5],
};

/** Where fields have to fit together, a body that does. */
const WHOLE: Readonly<Record<string, object>> = {
  CreateOrder: ORDER,
  UpdateOrder: { orderId: '$order', toAmount: '1.5' },
  SubmitCustomerData: {
    data: [{ email: { value: 'ana@example.org' } }, { intermediary: { isIntermediary: null } }],
  },
  AcceptTerms: { termsUrl: '$terms' },
  GetAvailablePartners: { ...ORDER, partnerId: undefined },
};

interface Ask {
  readonly operation: Operation;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  readonly isPartner: boolean;
}

let stack: Stack;
let document: ServedDocument;
let operations: Operation[];
let names: Record<string, string>;
beforeAll(async () => {
  stack = await openStack();
  document = (await stack.call<ServedDocument>('/partner/openapi.json', undefined, { method: 'GET' })).body;
  operations = operationsOf(document).filter(({ operator, body }) => !operator && body !== null);
  names = { $order: (await stack.order()).id, $terms: 'https://farelock.example/terms/2026-11-01' };
});
afterAll(() => stack.close());

/** Some names in snake_case, some values null: what ProtoJSON allows too. */
const rewritten = (value: unknown, at: number): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one, index) => rewritten(one, at + index));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner], index) => [
      (at + index) % 3 === 0 ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name,
      (at + index) % 11 === 0 ? null : rewritten(inner, at + index + 1),
    ]),
  );
};

const headerValue = (good: string) =>
  fc.oneof({ arbitrary: fc.constant(good), weight: 12 }, fc.constantFrom('', 'x', '"', `${good}x`));

const rarely = (...values: string[]) =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 8 }, fc.constantFrom(...values));

function asks(): fc.Arbitrary<Ask> {
  return fc.oneof(
    ...operations.map((operation) => {
      const made = validOf(operation.body ?? {}, document.components.schemas, KNOWN);
      const whole = WHOLE[operation.path.split('/').at(-1) ?? ''];
      const good = whole ? fc.oneof(fc.constant(whole), made) : made;
      const body = fc.oneof(
        { arbitrary: good.map(textOf), weight: 5 },
        {
          arbitrary: fc.tuple(good, fc.nat(20)).map(([value, at]) => textOf(rewritten(value, at))),
          weight: 3,
        },
        { arbitrary: mutated(good).map(textOf), weight: 8 },
        { arbitrary: mutated(mutated(good)).map(textOf), weight: 2 },
        { arbitrary: brokenText(good.map(textOf)), weight: 2 },
      );
      return fc
        .record({
          body,
          type: contentType,
          key: headerValue(stack.key),
          token: headerValue(stack.token),
          odd: oddHeaders,
          match: fc.option(fc.constantFrom('"1"', '"2"', '*', 'W/"1"', 'x', '"999999999999999999"'), {
            freq: 1,
          }),
          once: rarely('a', 'b', 'c', ' ', 'x'.repeat(300), 'é'),
          connect: rarely('1', '2', ''),
        })
        .map((made) => ({
          operation,
          body:
            typeof made.body === 'string'
              ? made.body.replace(/\$(order|terms)/g, (name) => names[name] ?? name)
              : made.body,
          isPartner: operation.path.includes('.partner.'),
          headers: {
            ...made.odd,
            ...(made.type === null ? {} : { 'content-type': made.type }),
            'x-api-key': made.key,
            authorization: `Bearer ${made.token}`,
            ...(made.match === null ? {} : { 'if-match': made.match }),
            ...(made.once === null ? {} : { 'idempotency-key': made.once }),
            ...(made.connect === null ? {} : { 'connect-protocol-version': made.connect }),
          },
        }));
    }),
  );
}

async function send(ask: Ask): Promise<Answer<unknown>> {
  const response = await stack.service.fetch(
    new Request(`http://service.test${ask.operation.path}`, {
      method: 'POST',
      headers: ask.headers,
      body: ask.body,
    }),
  );
  return { status: response.status, body: (await response.json()) as unknown, headers: response.headers };
}

/** Answers held to the served description by a validator that the service does not use. */
function conformance(): (operation: Operation, answer: Answer<unknown>) => string | null {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'served', ...document });
  return ({ name, path, responses }, { status, body, headers }) => {
    if (status === 500) return 'failed inside';
    if (!responses[String(status)]) return `has the status ${status}, which is not documented`;
    if (!headers.get('x-request-id')) return 'has no X-Request-Id';
    const pointer = [
      'paths',
      path,
      'post',
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ]
      .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
      .join('/');
    const check = ajv.getSchema(`served#/${pointer}`);
    if (!check) return `${name} ${status} has no schema`;
    return check(body) ? null : `${status} is not of its schema: ${ajv.errorsText(check.errors)}`;
  };
}

test('whatever is sent, the answer is a documented one, nothing fails inside, and a wrong field is named', async () => {
  const wrongWith = conformance();
  const seen = new Map<string, Set<number>>();
  await fc.assert(
    fc.asyncProperty(asks(), async (ask) => {
      const answer = await send(ask);
      const told = `${ask.operation.name} ${JSON.stringify(ask.headers)} ${String(ask.body).slice(0, 2000)}\n${JSON.stringify(answer.body).slice(0, 2000)}`;
      const wrong = wrongWith(ask.operation, answer);
      if (wrong !== null) throw new Error(`${wrong}\n${told}`);
      const { detail } = answer.body as Failure;
      if (answer.status === 400 && detail?.reason === 'invalid_request') {
        expect(detail.issues?.length, told).toBeGreaterThan(0);
        for (const { message } of detail.issues ?? []) expect(message, told).toMatch(/\w/);
      }
      const text = JSON.stringify(answer.body);
      for (const secret of [stack.key, stack.token]) expect(text.includes(secret), told).toBe(false);
      const statuses = seen.get(ask.operation.name) ?? new Set();
      seen.set(ask.operation.name, statuses.add(answer.status));
    }),
    { seed: SEED, numRuns: RUNS, endOnFailure: true },
  );
  for (const { name } of operations) expect([...(seen.get(name) ?? [])], name).toContain(200);
  if (isProof)
    process.stdout.write(
      `${[...seen].map(([name, statuses]) => `${name} ${[...statuses].sort().join(' ')}`).join('\n')}\n`,
    );
}, 1_800_000);

test('after all of it, every order is where its history says', async () => {
  interface Seen {
    readonly order: { readonly id: string; readonly version: number; readonly status: string };
    readonly history: readonly { readonly version: number; readonly toStatus: string }[];
  }
  const { body } = await stack.partner<{ orders: { id: string }[] }>('GetOrders', { pageSize: 200 });
  expect(body.orders.length).toBeGreaterThan(0);
  for (const { id } of body.orders.filter((one) => !one.id.startsWith('rmp_demo'))) {
    const seen = (await stack.partner<Seen>('GetOrderDetails', { orderId: id, includeHistory: true })).body;
    expect(seen.history.map(({ version }) => version)).toEqual(seen.history.map((_, index) => index + 1));
    expect([seen.history.at(-1)?.version, seen.history.at(-1)?.toStatus]).toEqual([
      seen.order.version,
      seen.order.status,
    ]);
  }
});
