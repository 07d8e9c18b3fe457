import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { boughtNothing, fareKey } from '../../src/airlines/fulfiller.ts';
import { LOWCOST_SCENARIOS } from '../../src/airlines/provider.ts';
import { decimalOf } from '../../src/sandbox/airline/prices.ts';
import { LOWCOST_ROUTES } from '../../src/sandbox/airline/scenarios.ts';
import { createWorld } from '../../src/sandbox/airline/world.ts';
import { CARRIERS, tripsFor } from '../../src/sandbox/lowcost/flights.ts';
import { goToTill, visit } from '../../src/sandbox/lowcost/fulfilment.ts';

const world = createWorld('test');
const [trip] = tripsFor(
  world,
  { origin: 'LIS', destination: 'BER', departDate: '2026-12-20', adults: 2, cabinClass: 'economy' },
  Date.UTC(2026, 10, 21),
);
if (!trip) throw new Error('nobody flies');
const page = (number: number) => visit(world, trip, 'none', number);

test('the order of the fares changes between visits, and each fare is found by what it contains', () => {
  const orders = new Set<string>();
  for (let number = 1; number <= 20; number++) {
    orders.add(
      page(number)
        .fares.map((fare) => fare.brand)
        .join(),
    );
    for (const fare of page(number + 100).fares) {
      const asked = { fare, amountDecimal: decimalOf(fare.totalCents) };
      expect(goToTill(page(number), asked)).toEqual({ kind: 'ready_to_pay', totalDecimal: decimalOf(fare.totalCents) });
    }
  }
  expect(orders.size).toBeGreaterThan(3);
  expect(new Set(page(1).fares.map(fareKey)).size).toBe(4);
});

test('a till that asks for anything but the escrowed price is left without paying', () => {
  const [fare] = page(1).fares;
  if (!fare) throw new Error('no fare');
  for (const cents of [fare.totalCents - 1, fare.totalCents + 1]) {
    const till = goToTill(page(2), { fare, amountDecimal: decimalOf(cents) });
    expect(till).toEqual({ kind: 'price_differs', foundAmountDecimal: decimalOf(fare.totalCents) });
    expect(till.kind !== 'ready_to_pay' && boughtNothing(till)).toBe(true);
  }
});

test('no carrier has the code of an airline, and every scenario has a route', () => {
  const codes = [...CARRIERS, ...world.airlines].map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
  const played = LOWCOST_ROUTES.map(({ scenario }) => scenario);
  for (const scenario of LOWCOST_SCENARIOS) expect(played).toContain(scenario);
});

test('the table of routes in docs/sandbox.md is the one that is played', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/sandbox.md'), 'utf8');
  const [, section = ''] = page.split('## The low-cost carriers');
  const rows = [...section.matchAll(/^\| (\w{3}) to (\w{3}) \| `(\w+)` \|/gm)];
  expect(rows.map(([, origin = '', destination = '', scenario = '']) => ({ origin, destination, scenario }))).toEqual(
    LOWCOST_ROUTES,
  );
});
