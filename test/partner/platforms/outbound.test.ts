import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { instant } from '../../../src/kernel/clock.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { type Breaker, breakerOptions, createBreaker } from '../../../src/partner/platforms/breaker.ts';
import { outcomeOf } from '../../../src/partner/platforms/messages.ts';
import { createOutbound, type OutboundPorts } from '../../../src/partner/platforms/outbound.ts';
import { createOutboundAudit, MOST_AUDIT_BYTES } from '../../../src/partner/platforms/outbound-audit.ts';
import { EMBEDDED_PLATFORM_HOST } from '../../../src/partner/platforms/ssrf-guard.ts';
import { newWebhookSecret, verifyWebhook } from '../../../src/partner/platforms/webhook-signature.ts';
import { openStore, type Store } from '../../../src/service/home.ts';
import { type ManualClock, manualClock } from '../../clock.ts';
import { migratedFile } from '../../service/migrated.ts';
import { fetchOver } from '../../web.ts';

/** CONTRACT, section 13: tries, pauses, breaker, signature, audit log. */

const PARTNER = {
  partnerId: 'par_1',
  platformUrl: `https://${EMBEDDED_PLATFORM_HOST}/bank/`,
  hasMoved: false,
  webhookSecrets: [newWebhookSecret()],
};
const CALL = { operation: 'create-order', subject: 'ord_1', body: { orderId: 'ord_1', note: 'AnaSecret' } } as const;

let folder: string;
let store: Store;
let clock: ManualClock;
let pauses: number[];
let received: Request[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-outbound-'));
  store = await openStore(await migratedFile(folder));
  clock = manualClock();
  pauses = [];
  received = [];
});
afterEach(async () => {
  await store.destroy();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = () => Response | Promise<Response>;

function opened(answers: readonly Answer[], given: Partial<OutboundPorts> = {}) {
  const secrets = openSecrets(join(folder, 'keys.json'));
  const audit = createOutboundAudit({ store, secrets, ids: randomIds(clock.now) });
  const rest = [...answers];
  const outbound = createOutbound({
    clock: {
      now: clock.now,
      sleep: async (ms) => {
        pauses.push(ms);
        clock.advance(ms);
      },
    },
    random: () => 0.5,
    breaker: createBreaker({ store, clock }),
    audit,
    rules: { environment: 'demo' },
    embedded: fetchOver(async (request) => {
      received.push(request.clone());
      const next = rest.length > 1 ? rest.shift() : rest[0];
      if (!next) throw new Error('no answer');
      return next();
    }),
    ...given,
  });
  return { outbound, audit };
}

const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(code === 200 ? '{"ok":true}' : '{"error":{"reason":"r","customerFacingReason":"c"}}', {
      status: code,
      headers,
    });
const lost: Answer = () => Promise.reject(new Error('socket hang up'));

describe('tries', () => {
  test.each([502, 503, 504])('%i is tried again, at most three times in all', async (code) => {
    const { outbound } = opened([status(code)]);
    const came = await outbound.send(PARTNER, CALL);
    // 503 is the platform's own word that nothing was done; a gateway's 502 or 504 is not.
    expect(came).toEqual({ kind: 'unavailable', mayHaveActed: code !== 503, retryAfterMs: null });
    expect(received).toHaveLength(3);
  });

  test.each([200, 400, 401, 404, 409, 422, 429, 500, 501, 301, 307])(
    '%i is an answer, and is not asked for twice',
    async (code) => {
      const { outbound } = opened([status(code, { location: 'https://elsewhere.example.com' })]);
      expect(await outbound.send(PARTNER, CALL)).toMatchObject({ kind: 'answer', status: code });
      expect(received).toHaveLength(1);
    },
  );

  test.each([401, 404, 307, 429])(
    '%i is no refusal, whatever the try before it said: the order is asked about again',
    async (code) => {
      for (const before of [lost, status(503)]) {
        const { outbound } = opened([before, status(code)]);
        expect(outcomeOf('create-order', await outbound.send(PARTNER, CALL), false)).toMatchObject({ kind: 'unknown' });
      }
    },
  );

  test.each([400, 422])('%i is a refusal unless the answer to a try before it was lost', async (code) => {
    const { outbound } = opened([status(503), status(code)]);
    expect(outcomeOf('create-order', await outbound.send(PARTNER, CALL), false)).toMatchObject({ kind: 'refused' });
    const { outbound: other } = opened([lost, status(code)]);
    expect(outcomeOf('create-order', await other.send(PARTNER, CALL), false)).toMatchObject({ kind: 'unknown' });
  });

  test('a name that leads elsewhere after a lost answer says nothing of that try', async () => {
    const server = createServer((request) => {
      request.on('end', () => request.socket.destroy()).resume();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const addresses = ['127.0.0.1', '8.8.8.8'];
      const { outbound } = opened([], {
        resolve: async () => [{ address: addresses.shift() ?? '8.8.8.8', family: 4 }],
      });
      const there = { ...PARTNER, platformUrl: `http://localhost:${port}/bank` };
      expect(outcomeOf('create-order', await outbound.send(there, CALL), false)).toMatchObject({ kind: 'unknown' });
      await expect(outbound.send(there, CALL)).rejects.toMatchObject({ code: 'partner_url_refused' });
    } finally {
      server.close();
    }
  });

  test('a lost answer is tried again with the same key, id and body', async () => {
    const { outbound } = opened([lost, status(503), status(200)]);
    expect(await outbound.send(PARTNER, CALL)).toMatchObject({ kind: 'answer', status: 200 });
    expect(received.map((one) => one.headers.get('idempotency-key'))).toEqual(['ord_1', 'ord_1', 'ord_1']);
    expect(received.map((one) => one.headers.get('webhook-id'))).toEqual(['ord_1', 'ord_1', 'ord_1']);
    const bodies = await Promise.all(received.map((one) => one.text()));
    expect(new Set(bodies)).toEqual(new Set([JSON.stringify(CALL.body)]));
    expect(received[0]?.url).toBe(`https://${EMBEDDED_PLATFORM_HOST}/bank/create-order`);
  });

  test('an answer that was lost once may have been acted on, whatever came after', async () => {
    const { outbound } = opened([lost, status(503)]);
    expect(await outbound.send(PARTNER, CALL)).toMatchObject({ kind: 'unavailable', mayHaveActed: true });
  });

  test('pauses are full jitter: anything between nothing and a step that doubles', async () => {
    const { outbound } = opened([status(503)], { random: () => 0 });
    await outbound.send(PARTNER, CALL);
    expect(pauses).toEqual([0, 0]);
    pauses.length = 0;
    const other = opened([status(503)], { random: () => 1 });
    await other.outbound.send({ ...PARTNER, partnerId: 'par_2' }, CALL);
    expect(pauses).toEqual([400, 800]);
  });

  test('Retry-After is honoured, in seconds and as a date', async () => {
    const date = () => status(503, { 'retry-after': new Date(clock.now() + 3_000).toUTCString() })();
    const { outbound } = opened([status(503, { 'retry-after': '2' }), date, status(200)]);
    expect(await outbound.send(PARTNER, CALL)).toMatchObject({ kind: 'answer' });
    expect(pauses).toEqual([2_000, 3_000]);
  });

  test('a Retry-After beyond the time over all ends the tries at once, and is passed on', async () => {
    const { outbound } = opened([status(503, { 'retry-after': '60' })]);
    expect(await outbound.send(PARTNER, CALL)).toEqual({
      kind: 'unavailable',
      mayHaveActed: false,
      retryAfterMs: 60_000,
    });
    expect(received).toHaveLength(1);
    expect(pauses).toEqual([]);
  });

  test('a platform that is slow every time costs ten seconds, not thirty', async () => {
    const slow: Answer = () => {
      clock.advance(6_000);
      return Promise.reject(new Error('timeout'));
    };
    const { outbound } = opened([slow]);
    const startedMs = clock.now();
    await outbound.send(PARTNER, CALL);
    expect(received).toHaveLength(2);
    expect(clock.now() - startedMs).toBeLessThan(13_000);
  });

  test('an answer past 256 KiB is not read, and not asked for again', async () => {
    const { outbound } = opened([() => new Response('x'.repeat(256 * 1024 + 1))]);
    expect(await outbound.send(PARTNER, CALL)).toEqual({ kind: 'oversized', status: 200, mayHaveActed: false });
    expect(received).toHaveLength(1);
  });

  test('the sandbox in the process can be called in demo only', async () => {
    const { outbound, audit } = opened([status(200)], { rules: { environment: 'live' } });
    await expect(outbound.send(PARTNER, CALL)).rejects.toMatchObject({ code: 'partner_url_refused' });
    expect(received).toHaveLength(0);
    expect(await audit.read('ord_1')).toMatchObject([{ outcome: 'refused', reason: 'reserved_host' }]);
  });
});

describe('the signature', () => {
  test('is one that the Standard Webhooks package verifies', async () => {
    const { outbound } = opened([status(200)], { clock: { now: () => Date.now(), sleep: async () => undefined } });
    await outbound.send(PARTNER, CALL);
    const [request] = received;
    const body = (await request?.text()) ?? '';
    const headers = Object.fromEntries(request?.headers ?? []);
    const [secret = ''] = PARTNER.webhookSecrets;
    expect(new Webhook(secret).verify(body, headers)).toEqual(CALL.body);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
    expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
  });

  test('covers both secrets while one rotates, and each try has its own time', async () => {
    const secrets = [newWebhookSecret(), newWebhookSecret()];
    const { outbound } = opened([status(503, { 'retry-after': '2' }), status(200)]);
    await outbound.send({ ...PARTNER, webhookSecrets: secrets }, CALL);
    for (const secret of secrets)
      for (const request of received)
        expect(
          verifyWebhook([secret], Object.fromEntries(request.headers), JSON.stringify(CALL.body), clock.now()),
        ).toBe(true);
    const times = received.map((request) => Number(request.headers.get('webhook-timestamp')));
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBe(2);
  });

  test('our own check takes what the package signs, and refuses what is old, changed or unsigned', () => {
    const secret = newWebhookSecret();
    const at = new Date(clock.now());
    const headers: Record<string, string> = {
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('m1', at, '{"a":1}'),
    };
    expect(verifyWebhook([secret], headers, '{"a":1}', clock.now())).toBe(true);
    expect(verifyWebhook([secret], headers, '{"a":2}', clock.now())).toBe(false);
    expect(verifyWebhook([newWebhookSecret()], headers, '{"a":1}', clock.now())).toBe(false);
    expect(verifyWebhook([secret], headers, '{"a":1}', clock.now() + 301_000)).toBe(false);
    expect(verifyWebhook([secret], headers, '{"a":1}', clock.now() - 301_000)).toBe(false);
    expect(verifyWebhook([secret], {}, '{"a":1}', clock.now())).toBe(false);
    headers['webhook-signature'] = 'v1,AAAA v2,x nonsense';
    expect(verifyWebhook([secret], headers, '{"a":1}', clock.now())).toBe(false);
  });
});

describe('the breaker', () => {
  const failing = async (breaker: Breaker, times: number) => {
    for (let i = 0; i < times; i++) await breaker.record('par_1', false);
  };

  test('opens after failures in a row, for one partner, in every process', async () => {
    const { outbound } = opened([status(503)]);
    for (let i = 0; i < breakerOptions.failures; i++) await outbound.send(PARTNER, CALL);
    const calls = received.length;
    expect(await outbound.send(PARTNER, CALL)).toEqual({
      kind: 'unavailable',
      mayHaveActed: false,
      retryAfterMs: breakerOptions.openMs,
    });
    expect(received).toHaveLength(calls);
    const elsewhere = await openStore(join(folder, 'service.db'));
    try {
      expect(await createBreaker({ store: elsewhere, clock }).admit('par_1')).toMatchObject({ open: true });
      expect(await createBreaker({ store: elsewhere, clock }).admit('par_2')).toEqual({ open: false });
    } finally {
      await elsewhere.destroy();
    }
  });

  test('refusals of an order do not open it', async () => {
    const { outbound } = opened([status(422)]);
    for (let i = 0; i < 10; i++) await outbound.send(PARTNER, CALL);
    expect(received).toHaveLength(10);
  });

  test('lets one probe through once its time has passed; the answer closes it', async () => {
    const breaker = createBreaker({ store, clock });
    await failing(breaker, breakerOptions.failures);
    clock.advance(breakerOptions.openMs);
    const admitted = await Promise.all([1, 2, 3, 4].map(() => breaker.admit('par_1')));
    expect(admitted.filter(({ open }) => !open)).toHaveLength(1);
    await breaker.record('par_1', true);
    expect(await breaker.admit('par_1')).toEqual({ open: false });
    expect(await breaker.admit('par_1')).toEqual({ open: false });
  });

  test('a probe that fails opens it for twice as long; one that dies makes room for the next', async () => {
    const breaker = createBreaker({ store, clock });
    await failing(breaker, breakerOptions.failures);
    clock.advance(breakerOptions.openMs);
    expect(await breaker.admit('par_1')).toEqual({ open: false });
    await breaker.record('par_1', false);
    expect(await breaker.admit('par_1')).toEqual({ open: true, retryAfterMs: 2 * breakerOptions.openMs });
    clock.advance(2 * breakerOptions.openMs);
    expect(await breaker.admit('par_1')).toEqual({ open: false });
    expect(await breaker.admit('par_1')).toMatchObject({ open: true });
    clock.advance(breakerOptions.probeMs);
    expect(await breaker.admit('par_1')).toEqual({ open: false });
  });

  test('a clock that is turned back does not keep it open', async () => {
    const breaker = createBreaker({ store, clock });
    await failing(breaker, breakerOptions.failures);
    clock.set(clock.now() - 365 * 86_400_000);
    expect(await breaker.admit('par_1')).toEqual({ open: false });
  });

  test('counts how often a partner answers', async () => {
    const breaker = createBreaker({ store, clock });
    for (let i = 0; i < 8; i++) await breaker.record('par_good', true);
    for (let i = 0; i < 8; i++) await breaker.record('par_bad', i % 2 === 0);
    const reliability = await breaker.reliability();
    expect(reliability.get('par_good')).toBe(0.9);
    expect(reliability.get('par_bad')).toBe(0.5);
  });
});

describe('the audit log', () => {
  test('keeps every try as it was, sealed on the disk', async () => {
    const { outbound, audit } = opened([lost, status(503), () => new Response('{"secretAnswer":1}')]);
    await outbound.send(PARTNER, CALL);
    const entries = await audit.read('ord_1');
    expect(entries.map(({ attempt, outcome, status: code, answer }) => [attempt, outcome, code, answer])).toEqual([
      [1, 'lost', null, null],
      [2, 'answer', 503, '{"error":{"reason":"r","customerFacingReason":"c"}}'],
      [3, 'answer', 200, '{"secretAnswer":1}'],
    ]);
    expect(entries[0]?.request).toBe(JSON.stringify(CALL.body));
    expect(instant(entries[0]?.atMs ?? 0)).toBe('2026-11-21T09:00:00.000Z');
    const disk = ['', '-wal'].map((end) => readFileSync(join(folder, `service.db${end}`)).toString('latin1'));
    for (const file of disk) {
      expect(file).not.toContain('AnaSecret');
      expect(file).not.toContain('secretAnswer');
    }
  });

  test('keeps no more of an answer than its cap, and bytes that are not text', async () => {
    const { audit } = opened([]);
    const entry = {
      partnerId: 'par_1',
      subject: 'ord_2',
      operation: 'redirect-order',
      attempt: 1,
      atMs: 0,
      durationMs: 0,
      outcome: 'answer',
      status: 200,
      reason: null,
      request: '{}',
    } as const;
    await audit.write({ ...entry, answer: Buffer.alloc(MOST_AUDIT_BYTES * 2, 'x') });
    await audit.write({ ...entry, atMs: 1, answer: Buffer.from([0xff, 0xfe]) });
    const [first, second] = await audit.read('ord_2');
    expect(first?.answer).toHaveLength(MOST_AUDIT_BYTES);
    expect(second?.answer).toBe('base64://4=');
  });

  test('nothing in the source changes or removes a row of it', () => {
    const source = readFileSync(join(import.meta.dirname, '../../../src/partner/platforms/outbound-audit.ts'), 'utf8');
    expect(source).not.toMatch(/updateTable|deleteFrom/);
  });
});
