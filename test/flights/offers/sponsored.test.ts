import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import bs58 from 'bs58';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readGatewayKeys, signedText } from '../../../src/flights/offers/sponsored.ts';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import type { SearchResponse } from '../../../src/wire/flights/index.ts';
import { openWorld, PASSENGER, TRIP, type World } from '../world.ts';

const gateway = signerFromSeed(new Uint8Array(32).fill(7));
const stranger = signerFromSeed(new Uint8Array(32).fill(8));

let world: World;
beforeAll(async () => {
  world = await openWorld({
    airline: 'scripted',
    options: { searchesPerStep: 2 },
    gatewayKeys: async () => ({ gate: bs58.decode(gateway.address) }),
  });
});
afterAll(() => world.close());

interface Signed {
  timestamp?: string;
  wallet?: string;
  method?: string;
  host?: string;
  path?: string;
  body?: string;
  keyId?: string;
  by?: typeof gateway;
}

let trips = 0;
/** A body that no other test sends: signatures of one second differ. */
const newBody = () => JSON.stringify({ ...TRIP, limit: 1 + (trips++ % 400) });
const seconds = (ms = world.clock.now()) => String(Math.floor(ms / 1000));

function headersOf(body: string, signed: Signed = {}): Record<string, string> {
  const timestamp = signed.timestamp ?? seconds();
  const wallet = signed.wallet ?? world.wallet.address;
  const text = signedText({
    timestamp,
    wallet,
    method: signed.method ?? 'POST',
    host: signed.host ?? 'flights.test',
    path: signed.path ?? '/air/search',
    body: Buffer.from(signed.body ?? body),
  });
  const signature = (signed.by ?? gateway).sign(Buffer.from(text));
  return {
    'X-GATEWAY-SPONSORED-KEY-ID': signed.keyId ?? 'gate',
    'X-GATEWAY-SPONSORED-TIMESTAMP': timestamp,
    'X-GATEWAY-SPONSORED-WALLET': wallet,
    'X-GATEWAY-SPONSORED-SIGNATURE': bs58.encode(signature),
  };
}

const search = (body: string, headers: Record<string, string>, call = world.call) =>
  call<SearchResponse & { code?: string; detail?: { reason?: string } }>('/air/search', body, { headers });

async function refusal(body: string, headers: Record<string, string>) {
  const { status, body: answer } = await search(body, headers);
  expect([status, answer.code]).toEqual([400, 'invalid_sponsored_preview']);
  return answer.detail?.reason;
}

test('a search that a gateway signed is answered, marked, and not charged', async () => {
  const before = await world.sums();
  const body = newBody();
  const answer = await search(body, headersOf(body));
  expect(answer.status).toBe(200);
  expect(answer.body.offers.length).toBeGreaterThan(0);
  expect(answer.headers.get('x-sponsored-preview')).toBe('true');
  expect(answer.headers.get('payment-response')).toBeNull();
  expect(await world.sums()).toEqual(before);
  expect(await world.store.selectFrom('settlements').selectAll().execute()).toEqual([]);
});

test('a paid search is not marked as a preview', async () => {
  const answer = await world.paid('/air/search', TRIP);
  expect(answer.headers.get('x-sponsored-preview')).toBeNull();
  expect(answer.headers.get('payment-response')).not.toBeNull();
});

test('a signature works once, also when it is written otherwise', async () => {
  const body = newBody();
  const headers = headersOf(body);
  expect((await search(body, headers)).status).toBe(200);
  expect(await refusal(body, headers)).toBe('replayed');
  const name = 'X-GATEWAY-SPONSORED-SIGNATURE';
  const bytes = Buffer.from(bs58.decode(headers[name] ?? ''));
  expect(await refusal(body, { ...headers, [name]: bytes.toString('base64') })).toBe('replayed');
  expect(await refusal(body, { ...headers, [name]: bytes.toString('base64url') })).toBe('replayed');
});

test('of many copies at once, on two processes, one is answered', async () => {
  const body = newBody();
  const headers = headersOf(body);
  const other = world.service();
  const answers = await Promise.all(
    [world.call, other.call, world.call, other.call, world.call].map((call) => search(body, headers, call)),
  );
  expect(answers.map((one) => one.status).sort()).toEqual([200, 400, 400, 400, 400]);
});

test('every header is needed: 400 invalid_sponsored_preview', async () => {
  const body = newBody();
  for (const name of Object.keys(headersOf(body))) {
    const { [name]: _left, ...rest } = headersOf(body);
    expect(await refusal(body, rest)).toBe('incomplete');
    expect(await refusal(body, { ...rest, [name]: '' })).toBe('incomplete');
  }
});

test('what cannot be read is refused', async () => {
  const body = newBody();
  const good = headersOf(body);
  const forms: [string, string][] = [
    ['TIMESTAMP', 'now'],
    ['TIMESTAMP', '-1'],
    ['TIMESTAMP', `${seconds()}.5`],
    ['TIMESTAMP', new Date(world.clock.now()).toISOString()],
    ['WALLET', 'nobody'],
    ['SIGNATURE', 'x'],
    ['SIGNATURE', '1'.repeat(5000)],
    ['SIGNATURE', '!'],
  ];
  for (const [name, value] of forms) {
    expect(await refusal(body, { ...good, [`X-GATEWAY-SPONSORED-${name}`]: value })).toBe('malformed');
  }
});

test('only a configured gateway may sign', async () => {
  const body = newBody();
  for (const keyId of ['other', '__proto__', 'constructor']) {
    expect(await refusal(body, headersOf(body, { keyId }))).toBe('unknown_key');
  }
  expect(await refusal(body, headersOf(body, { by: stranger }))).toBe('bad_signature');
});

test('the signature covers timestamp, wallet, method, host, path and body', async () => {
  const body = newBody();
  const other = world.newWallet().address;
  for (const signed of [
    { method: 'GET' },
    { host: 'elsewhere.test' },
    { path: '/air/intents' },
    { body: `${body} ` },
  ]) {
    expect(await refusal(body, headersOf(body, signed))).toBe('bad_signature');
  }
  const headers = headersOf(body);
  const moved = { ...headers, 'X-GATEWAY-SPONSORED-TIMESTAMP': seconds(world.clock.now() + 2000) };
  expect(await refusal(body, moved)).toBe('bad_signature');
  expect(await refusal(body, { ...headers, 'X-GATEWAY-SPONSORED-WALLET': other })).toBe('bad_signature');
});

test('the host is the one that the client addressed', async () => {
  const body = newBody();
  const headers = { ...headersOf(body, { host: 'Fly.Example:8443' }), host: 'fly.example:8443' };
  expect((await search(body, headers)).status).toBe(200);
});

test('under a public address the host is that one, whatever the Host header says', async () => {
  const asked = async (host: string) => {
    const body = newBody();
    const headers = { 'content-type': 'application/json', ...headersOf(body, { host }), host };
    const request = new Request('http://127.0.0.1:8080/air/search', { method: 'POST', headers, body });
    const answer = await world.app.fetch(request, { clientAddress: '10.0.0.1', publicUrl: 'https://fly.example' });
    return [answer.status, ((await answer.json()) as { detail?: { reason?: string } }).detail?.reason];
  };
  expect(await asked('fly.example')).toEqual([200, undefined]);
  // A signature that was made for another service of the same gateway is worth nothing here.
  expect(await asked('other.example')).toEqual([400, 'bad_signature']);
  expect(await asked('127.0.0.1:8080')).toEqual([400, 'bad_signature']);
});

test('a clock may be a minute away, either way, and no more', async () => {
  const body = newBody();
  for (const seconds of [-62, 62]) {
    const timestamp = String(Math.floor(world.clock.now() / 1000) + seconds);
    expect(await refusal(body, headersOf(body, { timestamp }))).toBe('stale');
  }
  for (const seconds of [-58, 59]) {
    const timestamp = String(Math.floor(world.clock.now() / 1000) + seconds);
    expect((await search(body, headersOf(body, { timestamp }))).status).toBe(200);
  }
});

test('a used signature is kept until nobody could take it for fresh, and then pruned', async () => {
  const kept = () => world.store.selectFrom('sponsored_signatures').selectAll().execute();
  const body = newBody();
  await search(body, headersOf(body));
  expect((await kept()).length).toBeGreaterThan(1);
  world.clock.advance(12 * 60_000);
  const next = newBody();
  await search(next, headersOf(next));
  expect(await kept()).toHaveLength(1);
});

test('a search that is wrong in itself uses no signature up', async () => {
  const body = JSON.stringify({ ...TRIP, origin_iata: 'QQQ' });
  const headers = headersOf(body);
  for (let times = 0; times < 2; times++) {
    expect((await search(body, headers)).body.code).toBe('invalid_request');
  }
});

test('with a payment beside it, the payment counts', async () => {
  const before = await world.usdc(world.treasury.address);
  const body = JSON.stringify(TRIP);
  const answer = await world.paid('/air/search', body, { headers: {} });
  expect(answer.status).toBe(200);
  const asked = await world.call('/air/search', body);
  const payment = await world.sign(asked);
  const both = await search(body, { ...headersOf(body), 'PAYMENT-SIGNATURE': payment });
  expect(both.status).toBe(200);
  expect(both.headers.get('x-sponsored-preview')).toBeNull();
  expect(both.headers.get('payment-response')).not.toBeNull();
  expect(await world.usdc(world.treasury.address)).toBeGreaterThan(before);
});

test('a preview pays for nothing else', async () => {
  const calls: [string, object][] = [
    ['/air/intents', { funding_wallet: world.wallet.address, offer_id: 'off_1' }],
    ['/air/offer-details', { offer_id: 'off_1' }],
  ];
  const intent = await world.intent('off_2');
  calls.push(['/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] }]);
  for (const [path, given] of calls) {
    const body = JSON.stringify(given);
    const answer = await world.call(path, body, { headers: headersOf(body, { path }) });
    expect([path, answer.status]).toEqual([path, 402]);
  }
});

test('a preview counts as a completed search', async () => {
  world.clock.advance(61_000);
  const price = async () => {
    const { body } = await world.call<{ accepts: { amount: string }[] }>('/air/search', TRIP);
    return body.accepts[0]?.amount;
  };
  for (let times = 0; times < 3; times++) {
    expect(await price()).toBe('100000');
    const body = newBody();
    expect((await search(body, headersOf(body))).status).toBe(200);
  }
  expect(await price()).toBe('200000');
});

test('without configured gateways there is no preview', async () => {
  const bare = await openWorld({ airline: 'none' });
  const body = newBody();
  const answer = await search(body, headersOf(body), bare.call);
  expect([answer.status, answer.body.detail?.reason]).toEqual([400, 'unknown_key']);
  await bare.close();
});

test('over a real socket the Host header is the host that counts', async () => {
  const { serve } = await import('@hono/node-server');
  const body = newBody();
  const answered = await new Promise<Response>((resolve, reject) => {
    const server = serve(
      { fetch: (request) => world.app.fetch(request), port: 0, hostname: '127.0.0.1' },
      ({ port }) => {
        const headers = { 'content-type': 'application/json', ...headersOf(body, { host: `127.0.0.1:${port}` }) };
        fetch(`http://127.0.0.1:${port}/air/search`, { method: 'POST', body, headers })
          .then(resolve, reject)
          .finally(() => server.close());
      },
    );
  });
  expect(answered.status).toBe(200);
  expect(answered.headers.get('x-sponsored-preview')).toBe('true');
});

test('gateway keys are read from a file, base58 or base64, and a wrong one is named', async () => {
  const path = join(world.home, 'gateways.json');
  const bytes = Buffer.from(bs58.decode(gateway.address));
  writeFileSync(path, JSON.stringify({ a: gateway.address, b: bytes.toString('base64') }));
  const keys = await readGatewayKeys(path);
  expect([keys.a, keys.b].map((key) => Buffer.from(key ?? []).equals(bytes))).toEqual([true, true]);
  writeFileSync(path, JSON.stringify({ a: gateway.address, c: 'short' }));
  await expect(readGatewayKeys(path)).rejects.toThrow('the key c');
});
