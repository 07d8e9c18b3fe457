import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Scenario } from '../../../src/airlines/provider.ts';
import { createSandboxProvider, type SandboxProvider } from '../../../src/sandbox/airline/index.ts';
import { SCENARIO_ROUTES } from '../../../src/sandbox/airline/scenarios.ts';
import { createSandboxLowcost } from '../../../src/sandbox/lowcost/index.ts';
import type { Offer } from '../../../src/wire/flights/index.ts';
import { openSandbox, passenger, query, type Sandbox } from './world.ts';

let sandbox: Sandbox;
let offer: Offer;

const cheapest = async (provider: SandboxProvider, origin = 'LIS', destination = 'BER', adults = 1) => {
  const [first] = await provider.search(query(origin, destination, '2026-12-21', { adults }));
  if (!first) throw new Error('no offers');
  return first;
};

const order = (reference: string, more: { amount?: string; passengers?: number; of?: Offer } = {}) => ({
  reference,
  offerId: (more.of ?? offer).offer_id,
  expectedAmountDecimal: more.amount ?? (more.of ?? offer).total_amount_decimal,
  passengers: Array.from({ length: more.passengers ?? 1 }, (_, i) => passenger(`Ada${'abcdefghi'.charAt(i)}`)),
});

test('a book of orders that could not be opened once is opened by the next call', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-book-'));
  const at = join(folder, 'books');
  writeFileSync(at, 'a file where a folder should be');
  const options = { seed: 'farelock', clock: sandbox.clock, scenario: 'none', ticketingMs: 0 } as const;
  const provider = createSandboxProvider({ ...options, orders: join(at, 'airline.db') });
  const lowcost = createSandboxLowcost({ ...options, quotingMs: 0, orders: join(at, 'airline.db') });
  await expect(provider.findOrder('ref')).rejects.toMatchObject({ code: 'storage_not_writable' });
  await expect(lowcost.find('ref')).rejects.toMatchObject({ code: 'storage_not_writable' });
  rmSync(at);
  expect(await provider.findOrder('ref')).toBeNull();
  expect(await lowcost.find('ref')).toBeNull();
  await Promise.all([provider.close(), lowcost.close()]);
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  sandbox = openSandbox();
  offer = await cheapest(sandbox.provider);
});
afterEach(() => sandbox.close());

describe('an order', () => {
  test('is confirmed at once with a record locator, and ticketed when its time has come', async () => {
    const { provider, clock } = sandbox;
    const of = await cheapest(provider, 'LHR', 'JFK', 3);
    const made = await provider.createOrder(order('ref-1', { passengers: 3, of }));
    expect(made).toMatchObject({
      reference: 'ref-1',
      status: 'confirmed',
      documents: [],
      totalAmountDecimal: of.total_amount_decimal,
      totalCurrency: of.total_currency,
      slices: of.slices,
      failure: null,
      createdAtMs: clock.now(),
    });
    expect(made.bookingReference).toMatch(/^[A-HJKMNP-TV-Z][2-9A-HJKMNP-TV-Z]{5}$/);
    clock.advance(1999);
    expect((await provider.order(made.providerOrderId)).status).toBe('confirmed');
    clock.advance(1);
    const ticketed = await sandbox.another().order(made.providerOrderId);
    expect(ticketed).toMatchObject({ status: 'ticketed', updatedAtMs: clock.now() });
    expect(ticketed.documents).toHaveLength(3);
    expect(new Set(ticketed.documents.map((one) => one.number)).size).toBe(3);
    for (const { number } of ticketed.documents) expect(number).toMatch(/^\d{13}$/);
    expect(await provider.findOrder('ref-1')).toEqual(ticketed);
  });

  test('is made once for a reference, whatever is asked again', async () => {
    const { provider, clock } = sandbox;
    const made = await provider.createOrder(order('ref-1'));
    clock.advance(3 * 3_600_000);
    const again = await sandbox.another('sold_out').createOrder(order('ref-1', { amount: '1.00' }));
    expect(again.providerOrderId).toBe(made.providerOrderId);
    expect((await provider.createOrder(order('ref-1'))).bookingReference).toBe(made.bookingReference);
  });

  test('is made once when many ask at the same moment', async () => {
    const providers = Array.from({ length: 6 }, () => sandbox.another());
    const made = await Promise.all(
      providers.flatMap((one) => [one.createOrder(order('ref-1')), one.createOrder(order('ref-1'))]),
    );
    expect(new Set(made.map((one) => one.providerOrderId)).size).toBe(1);
  });

  test('that nobody made is not found', async () => {
    expect(await sandbox.provider.findOrder('never')).toBeNull();
    await expect(sandbox.provider.order('sbx_never')).rejects.toMatchObject({ code: 'order_not_found' });
    await expect(sandbox.provider.cancel('sbx_never')).rejects.toMatchObject({ code: 'order_not_found' });
  });

  test('is refused at another price, and nothing is made', async () => {
    const { provider } = sandbox;
    await expect(provider.createOrder(order('ref-1', { amount: '12.34' }))).rejects.toMatchObject({
      code: 'offer_repriced',
      detail: { expected_ticket_amount: '12.34', current_ticket_amount: offer.total_amount_decimal },
    });
    expect(await provider.findOrder('ref-1')).toBeNull();
    const padded = `${offer.total_amount_decimal}0000`;
    expect((await provider.createOrder(order('ref-1', { amount: padded }))).status).toBe('confirmed');
  });

  test('is refused for another number of passengers, an expired or an unknown offer', async () => {
    const { provider, clock } = sandbox;
    await expect(provider.createOrder(order('ref-1', { passengers: 2 }))).rejects.toMatchObject({
      reason: 'form_rejected',
    });
    await expect(provider.createOrder({ ...order('ref-1'), offerId: 'off_x' })).rejects.toMatchObject({
      code: 'offer_not_found',
    });
    clock.advance(46 * 60_000);
    await expect(provider.createOrder(order('ref-1'))).rejects.toMatchObject({ code: 'offer_expired' });
    expect(await provider.findOrder('ref-1')).toBeNull();
  });

  test('can be cancelled before its ticket and after, once', async () => {
    const { provider, clock } = sandbox;
    const early = await provider.createOrder(order('ref-1'));
    const late = await provider.createOrder(order('ref-2'));
    const cancelled = await provider.cancel(early.providerOrderId);
    expect(cancelled).toMatchObject({ status: 'cancelled', documents: [] });
    clock.advance(5000);
    expect(await provider.cancel(early.providerOrderId)).toEqual(cancelled);
    expect((await provider.order(late.providerOrderId)).status).toBe('ticketed');
    const withTicket = await provider.cancel(late.providerOrderId);
    expect(withTicket).toMatchObject({ status: 'cancelled', updatedAtMs: clock.now() });
    expect(withTicket.documents).toHaveLength(1);
  });

  test('keeps nothing about who travels, and a search keeps nothing at all', async () => {
    expect(existsSync(sandbox.orders)).toBe(false);
    await sandbox.provider.offer(offer.offer_id);
    expect(existsSync(sandbox.orders)).toBe(false);
    await sandbox.provider.createOrder(order('ref-1'));
    await sandbox.provider.close();
    const kept = ['', '-wal']
      .map((suffix) => sandbox.orders + suffix)
      .filter(existsSync)
      .map((path) => readFileSync(path, 'latin1'))
      .join();
    expect(kept).toContain('ref-1');
    for (const text of ['Lovelace', 'Ada', '1990-12-10', 'example.com', '442079460000']) {
      expect(kept).not.toContain(text);
    }
  });
});

describe('a scenario', () => {
  const withScenario = (scenario: Scenario) => sandbox.another(scenario);

  test('repriced: the offer holds until a booking is checked, then costs 7.5 % more everywhere', async () => {
    const provider = withScenario('repriced');
    for (let look = 0; look < 3; look++) {
      expect((await provider.offer(offer.offer_id)).offer.total_amount).toBe(offer.total_amount);
    }
    const { offer: checked } = await provider.offer(offer.offer_id, 'booking');
    const base = (of: Offer) => Number(of.base_amount_decimal);
    expect(base(checked) / base(offer)).toBeCloseTo(1.075, 3);
    await expect(provider.createOrder(order('ref-1'))).rejects.toMatchObject({
      code: 'offer_repriced',
      detail: { current_ticket_amount: checked.total_amount_decimal },
    });
    expect(await provider.findOrder('ref-1')).toBeNull();
    await provider.createOrder(order('ref-2', { amount: checked.total_amount_decimal }));
  });

  test('offer_expired: the offer holds until a booking is checked', async () => {
    const provider = withScenario('offer_expired');
    expect((await provider.offer(offer.offer_id)).offer).toEqual(offer);
    await expect(provider.offer(offer.offer_id, 'booking')).rejects.toMatchObject({ code: 'offer_expired' });
    await expect(provider.createOrder(order('ref-1'))).rejects.toMatchObject({ code: 'offer_expired' });
    expect(await provider.findOrder('ref-1')).toBeNull();
  });

  test('ticketing_fails: confirmed, then failed with a reason, and there is nothing to cancel', async () => {
    const provider = withScenario('ticketing_fails');
    const made = await provider.createOrder(order('ref-1'));
    expect(made).toMatchObject({ status: 'confirmed', failure: null });
    sandbox.clock.advance(2000);
    const failed = await provider.order(made.providerOrderId);
    expect(failed).toMatchObject({ status: 'failed', documents: [], failure: expect.stringMatching(/\w/) });
    expect(await provider.cancel(made.providerOrderId)).toEqual(failed);
  });

  test('ticketing_slow: ten times as long', async () => {
    const provider = withScenario('ticketing_slow');
    const made = await provider.createOrder(order('ref-1'));
    sandbox.clock.advance(19_999);
    expect((await provider.order(made.providerOrderId)).status).toBe('confirmed');
    sandbox.clock.advance(1);
    expect((await provider.order(made.providerOrderId)).status).toBe('ticketed');
  });

  test('outcome_unknown: the order stands, its answer is lost, and it is found', async () => {
    const provider = withScenario('outcome_unknown');
    await expect(provider.createOrder(order('ref-1'))).rejects.toMatchObject({ code: 'provider_failed' });
    const found = await provider.findOrder('ref-1');
    expect(found).toMatchObject({ reference: 'ref-1', status: 'confirmed' });
    expect((await provider.createOrder(order('ref-1'))).providerOrderId).toBe(found?.providerOrderId);
  });

  test('rate_limited: searches and offers are told to wait, orders that stand can be read', async () => {
    const made = await sandbox.provider.createOrder(order('ref-1'));
    const provider = withScenario('rate_limited');
    const limited = { code: 'upstream_rate_limited', retryAfter: 30 };
    await expect(provider.search(query('LIS', 'BER'))).rejects.toMatchObject(limited);
    await expect(provider.offer(offer.offer_id)).rejects.toMatchObject(limited);
    expect((await provider.findOrder('ref-1'))?.providerOrderId).toBe(made.providerOrderId);
  });

  test('sold_out: the seat has gone when the order is made', async () => {
    const provider = withScenario('sold_out');
    expect((await provider.offer(offer.offer_id, 'booking')).offer).toEqual(offer);
    await expect(provider.createOrder(order('ref-1'))).rejects.toMatchObject({ code: 'offer_unavailable' });
    expect(await provider.findOrder('ref-1')).toBeNull();
  });

  test.each(SCENARIO_ROUTES)(
    '$scenario happens on $origin-$destination by itself, not on the way back',
    async (route) => {
      const { origin, destination, scenario } = route;
      if (scenario === 'rate_limited') {
        await expect(sandbox.provider.search(query(origin, destination))).rejects.toMatchObject({
          code: 'upstream_rate_limited',
        });
        return;
      }
      const of = await cheapest(sandbox.provider, origin, destination);
      expect(of.total_currency).toBe('USD');
      expect(of.total_amount).toBeGreaterThan(10_000_000);
      const outcome = await sandbox.provider.createOrder(order('ref-1', { of })).catch((error: unknown) => error);
      const expected = {
        repriced: { code: 'offer_repriced' },
        offer_expired: { code: 'offer_expired' },
        ticketing_fails: { status: 'confirmed' },
        ticketing_slow: { status: 'confirmed' },
        outcome_unknown: { code: 'provider_failed' },
        sold_out: { code: 'offer_unavailable' },
      }[scenario];
      expect(outcome).toMatchObject(expected);
      sandbox.clock.advance(2000);
      const later = (await sandbox.provider.findOrder('ref-1'))?.status;
      const after = { ticketing_fails: 'failed', ticketing_slow: 'confirmed', outcome_unknown: 'ticketed' } as const;
      expect(later).toBe(scenario in after ? after[scenario as keyof typeof after] : undefined);
    },
  );
});

test('the page about the sandbox names every route that is set aside, with its scenario', () => {
  const page = readFileSync(new URL('../../../docs/sandbox.md', import.meta.url), 'utf8');
  for (const { origin, destination, scenario } of SCENARIO_ROUTES) {
    expect(page).toContain(`| ${origin} to ${destination} | \`${scenario}\` |`);
  }
});
