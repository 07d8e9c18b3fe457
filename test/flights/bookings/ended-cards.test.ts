import { afterAll, beforeAll, expect, test } from 'vitest';
import { callOff } from '../../../src/airlines/browser/call-off.ts';
import type { CardIssuer } from '../../../src/airlines/browser/ports.ts';
import * as purchases from '../../../src/airlines/browser/purchases.ts';
import { endCards } from '../../../src/airlines/browser/purchases.ts';
import type { Fulfiller, Purchase } from '../../../src/airlines/fulfiller.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { recipeFor } from '../../airlines/browser/site.ts';
import { lowcostIntent, TRAVELLER } from '../lowcost-journey.ts';
import { openWorld, type World } from '../world.ts';

/** A card that was issued is ended by whoever decides that nothing was bought, and by nobody else. */

const MINUTE_MS = 60_000;
let world: World;
let key: string;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: MINUTE_MS, ticketingMs: 0 });
  const keys = createOperatorKeys({ ...world, ids: randomIds(world.clock.now) });
  ({ key } = await keys.issue({ keyId: 'key_0', name: 'first' }, 'ana', 'req_1'));
});
afterAll(() => world.close());

const recipe = recipeFor('http://127.0.0.1:9');
const purchaseOf = (reference: string): Purchase => ({
  ...{ reference, offerId: 'lowcost:T1-x', amountDecimal: '57.93', passengers: [TRAVELLER] },
  fare: { brand: 'Bare', checkedBags: 0, carryOnBags: 0, conditions: null },
});
const begin = async (reference: string): Promise<string> =>
  (await purchases.begin(world, purchaseOf(reference), recipe)) ?? '';
const arm = (reference: string, run: string) =>
  purchases.arm(world, reference, run, { decimal: '57.93', currency: 'USD' }, MINUTE_MS);
const cardOf = async (reference: string) => (await purchases.rowOf(world, reference))?.card;

/** A service whose browser has this issuer. */
function serviceWith(cards: CardIssuer) {
  const ending = { endCards: () => endCards({ ...world, log: () => undefined, settings: { cards } }) };
  return world.service((ports) => ({ ...ports, lowcost: { ...ports.lowcost, ...ending } as Fulfiller }));
}

function issuer() {
  const asked: string[] = [];
  let isDown = false;
  const cards: CardIssuer = {
    isSandbox: true,
    issue: () => Promise.reject(new Error('not asked here')),
    async revoke(reference) {
      asked.push(reference);
      if (isDown) throw new Error('no answer');
    },
  };
  return {
    asked,
    cards,
    down: (is: boolean) => {
      isDown = is;
    },
  };
}

/** A booking of the slower tier whose button was pressed, and nobody knows what came of it. */
async function pressed(): Promise<CreatedIntent> {
  const made = await lowcostIntent(world, 'LCY', 'STN');
  const run = await begin(made.intent_id);
  await arm(made.intent_id, run);
  await purchases.press(world, made.intent_id, run, MINUTE_MS);
  await world.book(made, [TRAVELLER]);
  await world.work(5 * MINUTE_MS);
  return made;
}

test('who decides that nothing was bought ends its card in that decision; the issuer is asked until it has', async () => {
  const { asked, cards, down } = issuer();
  const { worker } = serviceWith(cards);
  const made = await pressed();
  await worker.runDue();
  expect(await cardOf(made.intent_id)).toBe('issued');
  expect(asked).toEqual([]);

  // Before any worker has run, it is on record beside the decision.
  const decided = await world.call(
    `/operator/stuck/${made.intent_id}/resolve`,
    { decision: 'not_ticketed' },
    { headers: { Authorization: `Bearer ${key}` } },
  );
  expect(decided.body).toMatchObject({ state: 'refunded' });
  expect(await cardOf(made.intent_id)).toBe('ending');

  down(true);
  await worker.runDue();
  await worker.runDue();
  expect(asked).toHaveLength(1);
  down(false);
  world.clock.advance(MINUTE_MS);
  await worker.runDue();
  expect(await cardOf(made.intent_id)).toBe('ended');
  world.clock.advance(MINUTE_MS);
  await worker.runDue();
  expect(asked).toEqual([made.intent_id, made.intent_id]);
});

test('a purchase that was called off gets no card, and its button is not pressed any more', async () => {
  const early = await begin('int_early');
  const armed = await begin('int_armed');
  await arm('int_armed', armed);
  for (const reference of ['int_early', 'int_armed'])
    await world.store.transaction().execute((tx) => callOff(tx, reference, world.clock.now()));
  expect(await arm('int_early', early)).toBe(false);
  expect(await cardOf('int_early')).toBeNull();
  expect(await purchases.press(world, 'int_armed', armed, MINUTE_MS)).toBe(false);
  expect(await cardOf('int_armed')).toBe('ending');
});

test('a visit that was overtaken leaves the card of the one that pays alone', async () => {
  const { asked, cards } = issuer();
  const early = await begin('int_overtaken');
  const late = await begin('int_overtaken');
  await arm('int_overtaken', late);
  await purchases.release(world, 'int_overtaken', early);
  await purchases.end(world, 'int_overtaken', early, { kind: 'captcha' });
  expect(await cardOf('int_overtaken')).toBe('issued');
  await purchases.press(world, 'int_overtaken', late, MINUTE_MS);
  await serviceWith(cards).worker.runDue();
  expect(asked).not.toContain('int_overtaken');
});
