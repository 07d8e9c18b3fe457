import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fastClockEnv } from '../clock.ts';
import { isHere } from '../needs.mjs';
import { proofTest } from '../proof-only.ts';
import { BIN, farelockIn, type Runner } from './farelock.ts';

/** The sandbox platform as a process of its own, beside a service, over real HTTP; each of them is killed. */

const built = isHere('the built tool', existsSync(BIN) && existsSync(resolve(import.meta.dirname, '../../dist')));

interface Started<T> {
  readonly shown: T;
  /** Ends it by a signal. @returns its exit code, null when it was killed */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

async function start<T>(
  runner: Runner,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Started<T>> {
  const child: ChildProcess = spawn(process.execPath, [BIN, ...args, '--json'], {
    env: { ...process.env, ...runner.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const line = await new Promise<string>((ready, failed) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end >= 0) ready(text.slice(0, end));
    });
    child.once('exit', (code) => failed(new Error(`${args.join(' ')} ended with ${code}: ${errors}`)));
  });
  return {
    shown: JSON.parse(line) as T,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

describe.runIf(built)('a platform of its own', () => {
  const PARTNER = 'par_sandbox_pix';
  let runner: Runner;
  let service: Started<{ partner_url: string }>;
  let platform: Started<{ url: string; partners: { partner_id: string; platform_url: string }[] }>;
  let port: string;

  const key = (name: string) => readFileSync(join(runner.home, 'keys', name), 'utf8').trim();
  async function post<T>(
    path: string,
    body: object,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: T }> {
    const response = await fetch(`${service.shown.partner_url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as T };
  }
  const operator = () => ({ authorization: `Bearer ${key('operator.key')}` });

  async function create(fromAmount: string, idempotencyKey: string) {
    const { body } = await post<{ token: string }>(
      '/operator/customer-tokens',
      { customer_id: 'cus_demo_ana' },
      operator(),
    );
    return post<{ order?: { id: string }; code?: string }>(
      '/farelock.core.v1.customer.Service/CreateOrder',
      {
        partnerId: PARTNER,
        countryCode: 'BRA',
        rampType: 'ONRAMP',
        fromCurrency: 'BRL',
        toCurrency: 'SOLANA_USDC',
        fromAmount,
        paymentMethod: 'BRA_PIX',
      },
      {
        'x-api-key': key(`partner-${PARTNER}.key`),
        authorization: `Bearer ${body.token}`,
        'idempotency-key': idempotencyKey,
      },
    );
  }
  const orders = async () =>
    (
      await post<{ orders: { id: string; status: string; sourceAmount: string }[] }>(
        '/farelock.core.v1.partner.Service/GetOrders',
        {},
        { 'x-api-key': key(`partner-${PARTNER}.key`) },
      )
    ).body.orders;
  async function untilStatus(fromAmount: string, status: string): Promise<void> {
    await expect
      .poll(async () => (await orders()).filter((one) => one.sourceAmount === fromAmount).map((one) => one.status), {
        timeout: 30_000,
        interval: 200,
      })
      .toEqual([status]);
  }
  const startPlatform = async () => {
    platform = await start(runner, ['partner', 'platform', '--port', port], {
      FARELOCK_PARTNER_URL: service.shown.partner_url,
      FARELOCK_FLIGHTS_URL: service.shown.partner_url,
      FARELOCK_PLATFORM_STEP_MS: '100',
    });
    port = new URL(platform.shown.url).port;
  };

  beforeAll(async () => {
    runner = farelockIn(fastClockEnv(4));
    port = '0';
    service = await start(runner, ['serve', '--port', '0']);
    // The demo's keys and secrets are made with the first call.
    const listed = await fetch(`${service.shown.partner_url}/operator/partners`, { headers: operator() });
    const { partners } = (await listed.json()) as { partners: Record<string, unknown>[] };
    await startPlatform();
    const found = partners.find((one) => one.partner_id === PARTNER) ?? {};
    const { environment: _e, created_at: _c, updated_at: _u, ...kept } = found;
    const changed = await post(
      '/operator/partners',
      { ...kept, platform_url: `${platform.shown.url}/pix` },
      operator(),
    );
    expect(changed.status).toBe(200);
  });
  afterAll(async () => {
    await platform?.end('SIGTERM');
    await service?.end('SIGTERM');
    runner?.close();
  });

  test('takes an order and moves it along with its own key, until the payment is processed', async () => {
    const made = await create('300', 'k1');
    expect(made.status).toBe(200);
    await untilStatus('300', 'PAYMENT_PROCESSED');
  });

  test('refuses what is not signed by the service', async () => {
    const response = await fetch(`${platform.shown.url}/pix/create-order`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(401);
  });

  proofTest(
    'killed after it took an order whose answer was lost, it still has it: one order, and one here',
    async () => {
      expect((await create('300.0004', 'k2')).body.code).toBe('unavailable');
      await platform.end('SIGKILL');
      expect((await create('300.0004', 'k2')).body.code).toBe('unavailable');
      await startPlatform();
      await fetch(`${platform.shown.url}/admin/behaviours/pix`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"behaviour":"ends_canceled"}',
      });
      await untilStatus('300.0004', 'PAYMENT_PROCESSED');
      const booked = await fetch(`${platform.shown.url}/admin/orders/pix`);
      const { orders: known } = (await booked.json()) as { orders: { orderId: string }[] };
      expect(known).toHaveLength(2);
      await fetch(`${platform.shown.url}/admin/behaviours/pix`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"behaviour":"normal"}',
      });
    },
  );

  proofTest('the service killed while it waits for an answer: started again, it has the order, once', async () => {
    const taken = async () => {
      const booked = await fetch(`${platform.shown.url}/admin/orders/pix`);
      return ((await booked.json()) as { orders: unknown[] }).orders.length;
    };
    const before = await taken();
    const asked = create('300.0001', 'k3').catch(() => null);
    // The platform has taken it and keeps its answer back for three seconds.
    await expect.poll(taken, { timeout: 10_000, interval: 50 }).toBe(before + 1);
    const { port: servicePort } = new URL(service.shown.partner_url);
    await service.end('SIGKILL');
    await asked;
    service = await start(runner, ['serve', '--port', servicePort]);
    const again = await create('300.0001', 'k3');
    const mine = again.body.order?.id ?? (await create('300.0001', 'k3')).body.order?.id;
    expect(mine).toMatch(/^rmp_/);
    expect((await orders()).filter((one) => one.sourceAmount === '300.0001')).toHaveLength(1);
  });

  test('SIGTERM ends it with 0', async () => {
    expect(await platform.end('SIGTERM')).toBe(0);
  });
});
