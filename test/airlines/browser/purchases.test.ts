import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quote } from '../../../src/airlines/browser/looking.ts';
import * as purchases from '../../../src/airlines/browser/purchases.ts';
import type { Purchase } from '../../../src/airlines/fulfiller.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { createSandboxCards } from '../../../src/sandbox/carrier-site/cards.ts';
import { openStore, type Store } from '../../../src/service/home.ts';
import { type ManualClock, manualClock } from '../../clock.ts';
import { QUERY, TRAVELLER } from './shop.ts';
import { recipeFor } from './site.ts';

/** The record of a purchase: who may press, and who may say what became of it. */

const home = mkdtempSync(join(tmpdir(), 'farelock-purchases-'));
const recipe = recipeFor('http://127.0.0.1:9');
const TOTAL = { decimal: '57.93', currency: 'USD' };
let store: Store;
let clock: ManualClock;
let ports: { store: Store; secrets: ReturnType<typeof openSecrets>; clock: ManualClock };
beforeAll(async () => {
  store = await openStore(join(home, 'service.db'));
  clock = manualClock(1_800_000_000_000);
  ports = { store, secrets: openSecrets(join(home, 'secrets.json')), clock };
});
afterAll(async () => {
  await store.destroy();
  rmSync(home, { recursive: true, force: true });
});

const purchase = (reference: string): Purchase => ({
  ...{ reference, offerId: 'lowcost:T1-x', amountDecimal: '57.93', passengers: [TRAVELLER] },
  fare: { brand: 'Bare', checkedBags: 0, carryOnBags: 0, conditions: null },
});
const begin = async (reference: string): Promise<string> => {
  const run = await purchases.begin(ports, purchase(reference), recipe);
  if (run === null) throw new Error('it was not begun');
  return run;
};
const arm = (reference: string, run: string) => purchases.arm(ports, reference, run, TOTAL, 1_000);
const outcome = async (reference: string) => {
  const row = await purchases.rowOf(ports, reference);
  return row && purchases.outcomeOf(ports, row);
};

test('of all visits under a reference, the last one that began gets a card, and presses once', async () => {
  const early = await begin('int_a');
  const late = await begin('int_a');
  expect(await arm('int_a', early)).toBe(false);
  expect(await outcome('int_a')).toBeNull();
  expect((await Promise.all([arm('int_a', late), arm('int_a', late)])).sort()).toEqual([false, true]);
  // From here on it may be paid: whoever comes asks what became of it.
  expect(await purchases.begin(ports, purchase('int_a'), recipe)).toBeNull();
  expect(await outcome('int_a')).toEqual({ kind: 'pending' });
  const presses = [late, late, early].map((run) => purchases.press(ports, 'int_a', run, 1_000));
  expect((await Promise.all(presses)).sort()).toEqual([false, false, true]);
  await purchases.release(ports, 'int_a', late);
  await purchases.end(ports, 'int_a', late, { kind: 'captcha' });
  expect(await outcome('int_a')).toEqual({ kind: 'pending' });
  clock.advance(1_001);
  expect(await outcome('int_a')).toEqual({ kind: 'payment_pressed_no_confirmation' });
});

test('a visit whose till still waits gives the purchase back; one that slept past its time presses no more', async () => {
  const run = await begin('int_d');
  await arm('int_d', run);
  await purchases.release(ports, 'int_d', 'another');
  expect(await outcome('int_d')).toEqual({ kind: 'pending' });
  await purchases.release(ports, 'int_d', run);
  expect(await outcome('int_d')).toBeNull();
  const again = await begin('int_d');
  expect(await purchases.press(ports, 'int_d', again, 1_000)).toBe(false);
  await arm('int_d', again);
  clock.advance(1_001);
  expect(await purchases.press(ports, 'int_d', again, 1_000)).toBe(false);
  expect(await outcome('int_d')).toEqual({ kind: 'payment_pressed_no_confirmation' });
});

test('a visit that was taken over ends nothing; what ended is neither paid nor begun again', async () => {
  const early = await begin('int_b');
  const late = await begin('int_b');
  await purchases.end(ports, 'int_b', early, { kind: 'captcha' });
  expect(await outcome('int_b')).toBeNull();
  await purchases.end(ports, 'int_b', late, { kind: 'account_wall' });
  expect(await outcome('int_b')).toEqual({ kind: 'account_wall' });
  expect(await arm('int_b', late)).toBe(false);
  expect(await purchases.begin(ports, purchase('int_b'), recipe)).toBeNull();
});

test('what ended in nothing bought keeps nothing of the traveller', async () => {
  const contact = async () => {
    const row = await purchases.rowOf(ports, 'int_e');
    return row && purchases.contactOf(ports, row);
  };
  const run = await begin('int_e');
  expect(await contact()).toMatchObject({ email: TRAVELLER.email });
  await purchases.end(ports, 'int_e', run, { kind: 'captcha' });
  expect(await contact()).toBeNull();
});

test("the carrier's page is looked at once in a while, however often the purchase is asked about", async () => {
  await begin('int_f');
  const look = () => purchases.takeLook(ports, 'int_f', 60_000);
  expect((await Promise.all([look(), look(), look()])).sort()).toEqual([false, false, true]);
  clock.advance(59_999);
  expect(await look()).toBe(false);
  clock.advance(1);
  expect(await look()).toBe(true);
});

test('the first confirmation counts, and one in another currency is none', async () => {
  await arm('int_c', await begin('int_c'));
  const confirm = async (bookingReference: string, decimal: string, currency = 'USD') => {
    const row = await purchases.rowOf(ports, 'int_c');
    if (!row) throw new Error('it is gone');
    return purchases.confirm(ports, row, { bookingReference, paid: { decimal, currency } }, 'mail');
  };
  expect(await confirm('AAAAAA', '57.93', 'EUR')).toBe(false);
  expect(await outcome('int_c')).toEqual({ kind: 'pending' });
  expect(await confirm('BBBBBB', '57.93')).toBe(true);
  await confirm('CCCCCC', '1.00');
  expect(await outcome('int_c')).toMatchObject({
    kind: 'booked',
    bookingReference: 'BBBBBB',
    paidAmountDecimal: '57.93',
  });
});

test('a question that waits long for a browser is looked at once by its process, and again if that died', async () => {
  let visits = 0;
  const visiting = () => {
    visits += 1;
    return new Promise<never>(() => undefined);
  };
  const started = () => ({
    ...{ ...ports, visiting, recipes: [recipe], sold: [recipe], visitMs: 60_000, log: () => undefined },
    settings: { recipes: [], cards: createSandboxCards() },
    looks: new Set<string>(),
  });
  const [startedAtMs, shop] = [clock.now(), started()];
  await quote(shop, QUERY, startedAtMs);
  clock.advance(120_001);
  await quote(shop, QUERY, startedAtMs);
  expect(visits).toBe(1);
  await quote(started(), QUERY, startedAtMs);
  expect(visits).toBe(2);
});
