import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { ANA, type Answer, ORDER } from '../../partner/stack.ts';
import { brokenText, contentType, mutated, oddHeaders, textOf } from './broken.ts';
import type { Operation, ServedDocument } from './document.ts';
import type { Ask } from './requests.ts';
import { type Known, validOf } from './valid.ts';

/** Requests to every procedure of the partner service, and what its answers are held to. */

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
  depositInstructions: [{ iban: 'DE89370400440532013000' }, { accountNumber: '1', reference: 'r' }, { iban: 1 }],
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
  SubmitCustomerData: { data: [{ email: { value: 'ana@example.org' } }, { intermediary: { isIntermediary: null } }] },
  AcceptTerms: { termsUrl: '$terms' },
  GetAvailablePartners: { ...ORDER, partnerId: undefined },
};

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

/** The document, who asks, and what stands for `$order` and `$terms`. */
export interface Asked {
  readonly document: ServedDocument;
  readonly operations: readonly Operation[];
  readonly names: Readonly<Record<string, string>>;
  readonly key: string;
  readonly token: string;
}

export function asksOf({ document, operations, names, key, token }: Asked): fc.Arbitrary<Ask> {
  return fc.oneof(
    ...operations.map((operation) => {
      const made = validOf(operation.body ?? {}, document.components.schemas, KNOWN);
      const whole = WHOLE[operation.path.split('/').at(-1) ?? ''];
      const good = whole ? fc.oneof(fc.constant(whole), made) : made;
      const body = fc.oneof(
        { arbitrary: good.map(textOf), weight: 5 },
        { arbitrary: fc.tuple(good, fc.nat(20)).map(([value, at]) => textOf(rewritten(value, at))), weight: 3 },
        { arbitrary: mutated(good).map(textOf), weight: 8 },
        { arbitrary: mutated(mutated(good)).map(textOf), weight: 2 },
        { arbitrary: brokenText(good.map(textOf)), weight: 2 },
      );
      return fc
        .record({
          body,
          type: contentType,
          key: headerValue(key),
          token: headerValue(token),
          odd: oddHeaders,
          match: fc.option(fc.constantFrom('"1"', '"2"', '*', 'W/"1"', 'x', '"999999999999999999"'), { freq: 1 }),
          once: rarely('a', 'b', 'c', ' ', 'x'.repeat(300), 'é'),
          connect: rarely('1', '2', ''),
        })
        .map((made) => ({
          operation,
          method: 'POST',
          path: operation.path,
          body:
            typeof made.body === 'string'
              ? made.body.replace(/\$(order|terms)/g, (name) => names[name] ?? name)
              : made.body,
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

/** Answers held to the served description by a validator that the service does not use. */
export function conformance(
  document: ServedDocument,
): (operation: Operation, answer: Answer<unknown>) => string | null {
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'served', ...document });
  return ({ name, method, path, responses }, { status, body, headers }) => {
    if (status === 500) return 'failed inside';
    if (!responses[String(status)]) return `has the status ${status}, which is not documented`;
    if (!headers.get('x-request-id')) return 'has no X-Request-Id';
    const pointer = [
      'paths',
      path,
      method.toLowerCase(),
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
