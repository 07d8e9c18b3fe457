import fc from 'fast-check';

/** What comes in place of a good body, header or id. */

const INFINITE = '@infinite@';
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 ? [value] : { a: value };
  return value;
};

/** Values of every wrong kind. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, true, false, 0, -1, 1.5, 1e308, 5e-324, 2 ** 53, INFINITE, '', ' ', '0', 'null', [], {}, [[]]],
    ...['\u0000', '\ud800', '\u202eabc', 'é'.repeat(50), '🛫', 'LIS\n', "'; DROP TABLE intents; --", '{{7*7}}'],
    ...['__proto__', 'constructor', '../../etc/passwd', 'x'.repeat(5000), '9'.repeat(400), '2026-12-20T00:00:00Z'],
    ...[['LIS'], { toString: 'x' }, { length: 1 }, nested(60)],
  ),
  fc.jsonValue({ maxDepth: 2 }),
  fc.array(fc.nat(0x10ffff), { maxLength: 60 }).map((points) => String.fromCodePoint(...points)),
);

const EXTRA = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '', ' ', '0', 'max_stop', 'Ω'];

/** One thing wrong somewhere in a JSON value, wherever it lies. */
export function mutated(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const kind = fc.constantFrom('replace', 'replace', 'drop', 'add', 'rename', 'wrap', 'twice');
  return fc
    .tuple(good, kind, fc.nat(), odd, fc.constantFrom(...EXTRA))
    .map(([value, what, at, other, name]) => change(value, what, at, other, name));
}

function change(value: unknown, what: string, at: number, other: unknown, name: string): unknown {
  if (what === 'wrap') return [value];
  if (Array.isArray(value)) {
    if (value.length === 0 || what === 'add') return [...value, other];
    const index = at % value.length;
    if (what === 'twice') return [...value, value[index]];
    return value.map((one, position) => (position === index ? deeper(one, what, at, other, name) : (one as unknown)));
  }
  if (typeof value !== 'object' || value === null) return other;
  const fields = Object.entries(value);
  // fromEntries defines own properties, also one that is called __proto__.
  if (fields.length === 0 || what === 'add') return Object.fromEntries([...fields, [name, other]]);
  const index = at % fields.length;
  if (what === 'drop') return Object.fromEntries(fields.filter((_, position) => position !== index));
  return Object.fromEntries(
    fields.map(([key, one], position) => {
      if (position !== index) return [key, one];
      return what === 'rename' ? [`${key}${name}`, one] : [key, deeper(one, what, at, other, name)];
    }),
  );
}

const deeper = (value: unknown, what: string, at: number, other: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && at % 3 !== 0
    ? change(value, what, Math.floor(at / 7), other, name)
    : other;

/** JSON text, with numbers that no double holds put in. */
export const textOf = (value: unknown): string => JSON.stringify(value).replaceAll(`"${INFINITE}"`, '1e400');

/** Bodies that are no JSON, or not quite. */
export function brokenText(good: fc.Arbitrary<string>): fc.Arbitrary<string | Uint8Array<ArrayBuffer>> {
  return fc.oneof(
    fc.constantFrom<string>(
      ...['', ' ', '{', '}', 'null', '[]', '""', '0', 'NaN', 'undefined', '{"a":}', '{a:1}', "{'a':1}", '\ufeff{}'],
      ...['{}{}', '{"__proto__":{"a":1}}', '{"offer_id":"a","offer_id":"b"}', '//{}', '-', '1e', '\u0000'],
    ),
    good.map((text) => text.slice(0, Math.floor(text.length / 2))),
    good.map((text) => `${text},`),
    good.map((text) => `\ufeff${text}`),
    // Rare, for they are slow to make: deep and large ones.
    { arbitrary: fc.constantFrom(500, 30_000).map((depth) => '['.repeat(depth)), weight: 1 },
    { arbitrary: good.map((text) => text + ' '.repeat(66_000)), weight: 1 },
    fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
  );
}

export const contentType: fc.Arbitrary<string | null> = fc.oneof(
  { arbitrary: fc.constant('application/json'), weight: 30 },
  fc.constantFrom(
    ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain', 'application/jsonx', 'json', ''],
    ...['multipart/form-data; boundary=x', 'application/x-www-form-urlencoded', 'application/json, text/html', null],
  ),
);

/** Header values are bytes: what a client can really send. */
const headerText = fc.stringMatching(/^[\x21-\x7e\xa1-\xff]{0,60}$/);

export const oddHeaders: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { arbitrary: fc.constant({}), weight: 8 },
  fc.constantFrom<Record<string, string>>(
    { accept: 'text/html' },
    { 'accept-encoding': 'br;q=1, *;q=0' },
    { 'x-http-method-override': 'DELETE' },
    { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'ftp' },
    { 'x-request-id': 'mine' },
    { 'content-encoding': 'gzip' },
    { 'content-length': '999999999' },
    { 'content-length': 'many' },
    { range: 'bytes=0-1' },
    { 'if-none-match': '*' },
    { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    { cookie: 'a=b; a=c' },
    { authorization: 'Bearer x' },
    { authorization: 'Basic Og==' },
    { 'payment-response': 'x', 'x-payment': 'x' },
  ),
  headerText.map((text) => ({ 'x-gateway-sponsored-key-id': text, 'x-gateway-sponsored-signature': text })),
  fc
    .tuple(headerText, headerText, fc.constantFrom('$wallet', 'x'), headerText)
    .map(([key, timestamp, wallet, signature]) => ({
      'x-gateway-sponsored-key-id': key,
      'x-gateway-sponsored-timestamp': timestamp,
      'x-gateway-sponsored-wallet': wallet,
      'x-gateway-sponsored-signature': signature,
    })),
);

/** For a header that the document names: missing, garbage, or one that the world knows. */
export const namedHeader = (name: string): fc.Arbitrary<string | null> =>
  fc.oneof(
    fc.constant(null),
    fc.constantFrom('', 'x', 'FLK-0000-0000-0000-0000', '$code', 'Lovelace', ' lovelace '),
    headerText.map((text) => (name.toLowerCase() === 'authorization' ? `Bearer ${text}` : text)),
  );

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
const payload = (transaction: unknown, change: object = {}) =>
  base64({
    x402Version: 2,
    resource: { url: 'http://flights.test/air/search' },
    accepted: {
      scheme: 'exact',
      network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      amount: '100000',
      payTo: '11111111111111111111111111111111',
      maxTimeoutSeconds: 60,
      extra: {},
    },
    payload: { transaction },
    ...change,
  });

/** PAYMENT-SIGNATURE, hardly ever worth anything: `$spent` and `$other` are real ones, made for another call. */
export const payment: fc.Arbitrary<string | null> = fc.oneof(
  { arbitrary: fc.constant(null), weight: 6 },
  fc.constantFrom(
    ...['', 'x', 'bm8=', '$other', '$spent', base64(null), base64([]), base64({}), base64({ x402Version: 1 })],
    ...[payload(''), payload(null), payload('AAAA'), payload({}), payload('x'.repeat(3000)), 'A'.repeat(9000)],
    ...[payload('AAAA', { accepted: null }), payload('AAAA', { x402Version: '2' }), payload('AAAA', { accepted: {} })],
  ),
  headerText,
  fc.uint8Array({ minLength: 1, maxLength: 1300 }).map((bytes) => payload(Buffer.from(bytes).toString('base64'))),
  fc.nat().map((at) => `$flipped:${at}`),
);

/** What stands in a path in the place of an id. */
export const pathId = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom(...(name === 'intent_id' ? ['$intent', '$booked'] : name === 'order_id' ? ['$order'] : ['$code'])),
    fc.constantFrom('x', '__proto__', 'constructor', '%00', '%zz', '%E0%A4%A', '%252e', "'%20OR%201=1--", '*'),
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
      .filter((text) => text !== '.' && text !== '..')
      .map(encodeURIComponent),
    fc.constant('a'.repeat(5000)),
  );
