import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createBrowserFulfiller } from '../../../../src/airlines/browser/index.ts';
import { hostsOf, isInside, resolverRules } from '../../../../src/airlines/browser/page/fence.ts';
import { loadRecipes, recipeOf } from '../../../../src/airlines/browser/recipes/index.ts';
import { createSandboxCards } from '../../../../src/sandbox/carrier-site/cards.ts';
import { worldClock } from '../../../clock.ts';
import { QUERY } from '../shop.ts';
import { chromium } from '../site.ts';

const FOLDER = resolve(import.meta.dirname, '../../../../docs/recipes');
const example = () => JSON.parse(readFileSync(join(FOLDER, 'sandbox-hopper.json'), 'utf8'));

test('the examples are read from their folder, and one is sent to another address', () => {
  const recipes = loadRecipes([FOLDER], { X9: 'http://127.0.0.1:9' });
  expect(recipes.map(({ carrier }) => carrier.code)).toEqual(['F1', 'X9', 'S2', 'S1']);
  expect(recipes[1]?.site.base).toBe('http://127.0.0.1:9');
});

test.runIf(chromium)('a carrier without its account is left out and named, and the others are sold', () => {
  const logged: unknown[] = [];
  const open = (...recipes: string[]) =>
    createBrowserFulfiller({
      ...{
        store: {} as never,
        secrets: {} as never,
        clock: worldClock,
        settings: { recipes, cards: createSandboxCards() },
      },
      log: (_level, event, fields) => logged.push({ event, ...fields }),
    });
  const { serves } = open(FOLDER);
  const sold = ['DEL-BOM', 'VIE-LIS', 'JFK-LAX'].map((route) => {
    const [origin = '', destination = ''] = route.split('-');
    return serves({ ...QUERY, origin, destination, adults: 1 });
  });
  expect(sold).toEqual([false, true, true]);
  expect(logged).toContainEqual({
    ...{ event: 'browser_carrier_left_out', carrier: 'F1', needs: 'an account', setting: 'FARELOCK_CARRIER_ACCOUNTS' },
  });
  expect(() => open(join(FOLDER, 'flight.json'))).toThrow(/F1 needs an account, which FARELOCK_CARRIER_ACCOUNTS/);
});

test.each([
  [
    'an unknown step',
    (r: ReturnType<typeof example>) => r.search.steps.push({ do: 'run', code: '1' }),
    'search.steps[6].do',
  ],
  [
    'a card before the till',
    (r: ReturnType<typeof example>) => {
      r.passengers.steps.push({ do: 'fill', at: { label: 'x' }, value: '{card.number}' });
    },
    'till.card alone',
  ],
  [
    'a card in a wall',
    (r: ReturnType<typeof example>) => {
      r.walls[0].steps.push({ do: 'fill', at: { label: 'x' }, value: '{card.number}' });
    },
    'till.card alone',
  ],
  [
    'a till without a card',
    (r: ReturnType<typeof example>) => {
      r.till.card = [];
    },
    'fills in no card number',
  ],
  [
    'a click on the pay button among the steps of the card',
    (r: ReturnType<typeof example>) => {
      r.till.card.push({ do: 'click', at: { role: 'button', name: 'pay now' } });
    },
    'clicks till.pay',
  ],
  [
    'such a click within a step of a wall',
    (r: ReturnType<typeof example>) => {
      r.till.pay = { in: { css: 'form' }, find: r.till.pay };
      const click = { do: 'click', at: { role: 'button', name: 'Pay now', exact: true } };
      r.walls[0].steps.push({ do: 'when', seen: { css: 'x' }, steps: [], otherwise: [click] });
    },
    'clicks till.pay',
  ],
  [
    'an address that is opened with the card on the page',
    (r: ReturnType<typeof example>) => {
      r.till.card.push({ do: 'open', path: '/pay?now=1' });
    },
    'may not leave the till',
  ],
  [
    'a key that sends the form',
    (r: ReturnType<typeof example>) => {
      r.till.card.push({ do: 'type', at: { label: 'x' }, value: '{card.cvc}\n' });
    },
    'control character',
  ],
  [
    'a site without TLS',
    (r: ReturnType<typeof example>) => {
      r.site.base = 'http://www.example.com';
    },
    'has to be https',
  ],
  [
    'a version of the future',
    (r: ReturnType<typeof example>) => {
      r.format = 2;
    },
    'format',
  ],
])('%s is refused before anything is sold by it, with its place', (_what, change, where) => {
  const recipe = example();
  change(recipe);
  expect(() => recipeOf(recipe, 'x.json')).toThrow(
    expect.objectContaining({ code: 'recipe_invalid', message: expect.stringContaining(where) }),
  );
});

test('two recipes of one carrier, none, and a file that is no JSON are refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-recipes-'));
  try {
    const refused = expect.objectContaining({ code: 'recipe_invalid' });
    expect(() => loadRecipes([folder])).toThrow(refused);
    expect(() => loadRecipes([FOLDER, FOLDER])).toThrow(refused);
    writeFileSync(join(folder, 'x.json'), '{');
    expect(() => loadRecipes([folder])).toThrow(refused);
    expect(() => loadRecipes([join(folder, 'none.json')])).toThrow(refused);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('hosts are the carrier’s own, by name and port', () => {
  const hosts = hostsOf({
    base: 'https://www.carrier.example/en',
    hosts: ['static.carrier.example', 'pay.example:8443'],
    currency: 'EUR',
    numbers: '1.234,50',
  });
  expect(hosts).toEqual(['www.carrier.example:443', 'static.carrier.example:443', 'pay.example:8443']);
  expect(resolverRules(hosts)).toMatch(/^MAP www\.carrier\.example:443 .*,MAP \* ~NOTFOUND$/);
  const tried = [
    'https://www.carrier.example/x',
    'wss://pay.example:8443/',
    'http://www.carrier.example/',
    'https://www.carrier.example.evil.example/',
    'https://pay.example/',
    'https://carrier.example/',
    'file:///etc/passwd',
  ];
  expect(tried.map((address) => isInside(address, hosts))).toEqual([true, true, ...Array(5).fill(false)]);
});
