import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runInMemory } from './memory.ts';

/** `recipe check` names every mistake in one run; `recipe new` writes what only has to be filled in. */

const folder = mkdtempSync(join(tmpdir(), 'farelock-recipe-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = (...args: string[]) =>
  runInMemory(['recipe', ...args], { environment: { FARELOCK_HOME: join(folder, 'home') } });

// biome-ignore lint/suspicious/noExplicitAny: recipes are spoilt here.
type Spoilt = any;

const example = (): Spoilt => JSON.parse(readFileSync('docs/recipes/sandbox-hopper.json', 'utf8'));
const click = (at: object) => ({ do: 'click', at });
const fill = (value: string, at: object = { label: 'x' }) => ({ do: 'fill', at, value });

/** What is spoilt, and what is said of it: place, code and the right word. */
const MISTAKES: readonly [spoil: (recipe: Spoilt) => void, path: string, code: string, nearest?: string][] = [
  [(r) => Object.assign(r, { serchh: {} }), 'serchh', 'key_unknown', 'search'],
  [(r) => delete r.rejected.field, 'rejected.field', 'key_missing'],
  [(r) => Object.assign(r, { format: 2 }), 'format', 'word_unknown', '1'],
  [(r) => Object.assign(r, { version: 1.5 }), 'version', 'value_wrong'],
  [(r) => Object.assign(r.site, { numbers: '1.234.50' }), 'site.numbers', 'word_unknown', '1,234.50'],
  [
    (r) => Object.assign(r.site, { base: 'http://www.carrier.example' }),
    'site.base',
    'cannot_work',
    'https://www.carrier.example',
  ],
  [
    (r) => Object.assign(r.site, { hosts: ['www.carrier.example', 'https://cdn.example', 'a.example', 'a.example'] }),
    'site.hosts[0]',
    'cannot_work',
  ],
  [() => undefined, 'site.hosts[1]', 'value_wrong'],
  [() => undefined, 'site.hosts[3]', 'cannot_work'],
  [(r) => Object.assign(r.site, { frame: '{origin}' }), 'site.frame', 'place_absent'],
  [(r) => Object.assign(r.site, { time_zone: 'Europe/Lodnon' }), 'site.time_zone', 'word_unknown', 'Europe/London'],
  [
    (r) => Object.assign(r.serves, { routes: ['VIE-*', 'VIE>LIS', 'VIE-XXQ', 'LIS-LIS'] }),
    'serves.routes[0]',
    'one_way',
    '*-VIE',
  ],
  [() => undefined, 'serves.routes[1]', 'value_wrong'],
  [() => undefined, 'serves.routes[2]', 'word_unknown'],
  [() => undefined, 'serves.routes[3]', 'cannot_work'],
  [(r) => r.walls.push({ seen: { text: 'x' } }), 'walls[8]', 'key_missing'],
  [(r) => r.walls.push({ seen: { text: 'x' }, stop: 'captchar' }), 'walls[9].stop', 'word_unknown', 'captcha'],
  [
    (r) => r.walls.push({ seen: { text: 'x' }, steps: [fill('{card.cvc}')] }),
    'walls[10].steps[0].value',
    'place_absent',
  ],
  [(r) => r.walls.push({ seen: { text: 'x' }, steps: [click({ text: 'pay now' })] }), 'walls[11].steps[0].at', 'pays'],
  [(r) => r.search.steps.push({ do: 'clik', at: { label: 'x' } }), 'search.steps[6].do', 'word_unknown', 'click'],
  [(r) => r.search.steps.push({ do: 'click', att: { label: 'x' } }), 'search.steps[7].att', 'key_unknown', 'at'],
  [
    (r) => r.search.steps.push(click({ role: 'buton', name: 'x' })),
    'search.steps[8].at.role',
    'word_unknown',
    'button',
  ],
  [(r) => r.search.steps.push(click({ selector: '.x' })), 'search.steps[9].at.selector', 'key_unknown', 'css'],
  [(r) => r.search.steps.push(click({ css: 'div[' })), 'search.steps[10].at.css', 'value_wrong'],
  [
    (r) => r.search.steps.push(click({ css: 'a:contains("x")' })),
    'search.steps[11].at.css',
    'value_wrong',
    ':has-text',
  ],
  [(r) => r.search.steps.push(click({})), 'search.steps[12].at', 'key_missing'],
  [(r) => r.search.steps.push(fill('{departdate}')), 'search.steps[13].value', 'place_unknown', 'depart_date'],
  [(r) => r.search.steps.push(fill('{passenger.given_name}')), 'search.steps[14].value', 'place_absent'],
  [(r) => r.search.steps.push(fill('{depart_date:dd/MM/yyyy}')), 'search.steps[15].value', 'word_unknown', 'DD'],
  [(r) => r.search.steps.push(fill('{origin:uper}')), 'search.steps[16].value', 'word_unknown', 'upper'],
  [(r) => r.search.steps.push({ do: 'open', path: 'https://other.example/' }), 'search.steps[17].path', 'cannot_work'],
  [(r) => r.search.steps.push({ do: 'choose', at: { label: 'x' } }), 'search.steps[18]', 'key_missing'],
  [(r) => r.search.steps.push({ do: 'repeat', most: 3, steps: [] }), 'search.steps[19]', 'key_missing'],
  [(r) => r.search.steps.push({ do: 'passengers', steps: [] }), 'search.steps[20]', 'cannot_work'],
  [
    (r) => r.search.steps.push({ do: 'pick', at: { label: 'x' }, value: '{origin}' }),
    'search.steps[21].at',
    'cannot_work',
  ],
  [
    (r) => Object.assign(r.search.out.read.departs, { format: 'YYYY-MM-DD' }),
    'search.out.read.departs.format',
    'cannot_work',
  ],
  [
    (r) => Object.assign(r.search.out.read.arrives, { format: 'hh:nn' }),
    'search.out.read.arrives.format',
    'word_unknown',
    'mm',
  ],
  [
    (r) => Object.assign(r.search.out.read.price, { pattern: '(a)(b)' }),
    'search.out.read.price.pattern',
    'value_wrong',
  ],
  [(r) => Object.assign(r.search.out.read.departs, { map: {} }), 'search.out.read.departs.map', 'key_unknown'],
  [(r) => Object.assign(r.search.out.read, { duration: {} }), 'search.out.read.duration', 'cannot_work'],
  [(r) => Object.assign(r.fares.read.price, { pattern: '(' }), 'fares.read.price.pattern', 'value_wrong'],
  [
    (r) => Object.assign(r.fares.read.change_allowed.map, { maybe: 'yes' }),
    'fares.read.change_allowed.map.maybe',
    'value_wrong',
  ],
  [(r) => delete r.fares.read.refund_allowed.map, 'fares.read.refund_allowed.map', 'key_missing'],
  [
    (r) => Object.assign(r.fares.read.checked_bags.map, { two: 'two' }),
    'fares.read.checked_bags.map.two',
    'value_wrong',
  ],
  [
    (r) => Object.assign(r.passengers.steps[1].steps[0].map, { mister: 'MR' }),
    'passengers.steps[1].steps[0].map.mister',
    'word_unknown',
  ],
  [(r) => r.passengers.steps.push(fill('{passenger.given_name}')), 'passengers.steps[6].value', 'place_absent'],
  [(r) => r.till.steps.push(click({ css: 'button:has-text("Pay now")' })), 'till.steps[1].at', 'pays'],
  [(r) => r.till.steps.push(click({ role: 'button', name: 'Pay now', frame: '{origin}' })), 'till.steps[2].at', 'pays'],
  [(r) => Object.assign(r.till, { card: [] }), 'till.card', 'cannot_work'],
  [(r) => r.till.card.push(click({ role: 'button', name: 'Pay' })), 'till.card[0].at', 'pays'],
  [(r) => r.till.card.push({ do: 'open', path: '/pay' }), 'till.card[1]', 'cannot_work'],
  [
    (r) => r.till.card.push(fill('x', { in: { css: 'form' }, find: { label: 'x', frame: 'iframe' } })),
    'till.card[2].at.find.frame',
    'cannot_work',
  ],
  [
    (r) => Object.assign(r, { rejected: { list: { css: 'p' }, field: { map: { First: 'given_nam' } } } }),
    'rejected.field.map.First',
    'word_unknown',
    'given_name',
  ],
  [
    (r) => Object.assign(r.confirmation, { challenge: { seen: { css: 'p' }, code: { from: 'person' }, steps: [] } }),
    'confirmation.challenge.steps',
    'cannot_work',
  ],
  [(r) => Object.assign(r.mail, { domain: 'https://carrier.example' }), 'mail.domain', 'value_wrong'],
  [(r) => r.manage.steps.push(fill('{card.number}')), 'manage.steps[4].value', 'place_absent'],
  [(r) => r.walls.push({ seen: { text: 'x' }, stop: `${'x'.repeat(58)}🛑` }), 'walls[12].stop', 'word_unknown'],
];

test('every mistake of a folder is named in one run, with its place and the right word', async () => {
  const recipes = join(folder, 'spoilt');
  mkdirSync(recipes);
  const spoilt = example();
  // The two of `rejected` replace each other.
  const second = MISTAKES.findIndex(([, path]) => path === 'rejected.field');
  for (const [spoil] of MISTAKES.filter((_, i) => i !== second)) spoil(spoilt);
  const other = example();
  MISTAKES[second]?.[0](other);
  writeFileSync(join(recipes, 'a.json'), JSON.stringify(spoilt));
  writeFileSync(join(recipes, 'b.json'), JSON.stringify(other));
  writeFileSync(join(recipes, 'c.json'), '{\n  "format": 1,\n  "version": 1,\n}\n');
  writeFileSync(join(recipes, 'd.json'), JSON.stringify(example()));
  writeFileSync(join(recipes, 'e.json'), JSON.stringify(example()));
  const { exitCode, json } = await run('check', recipes, '--json');
  const { mistakes } = json() as {
    mistakes: Record<'file' | 'path' | 'code' | 'nearest' | 'message', string | null>[];
  };
  const found = mistakes.map(({ path, code, nearest }) => JSON.stringify([path, code, nearest]));
  const wanted = MISTAKES.map(([, path, code, near = null]) => JSON.stringify([path, code, near]));
  expect(found.filter((one) => !wanted.includes(one)).sort()).toEqual([
    '["","json",null]',
    '["carrier.code","cannot_work",null]',
  ]);
  expect(wanted.filter((one) => !found.includes(one))).toEqual([]);
  expect(MISTAKES.length).toBeGreaterThan(40);
  const said = (path: string) => mistakes.find((one) => one.path === path)?.message;
  expect(said('search.steps[6].do')).toBe('"clik" is no word that is known here');
  expect(said('search.out.read.departs.map')).toBe('there is no "map" here: dates take a "format"');
  expect(said('walls[12].stop')).toMatch(/^"x{58}🛑?…? is none of captcha, /);
  // Half a character would be shown as �.
  expect(mistakes.map(({ message }) => message).join()).not.toMatch(/\p{Surrogate}/u);
  expect(mistakes.find(({ code }) => code === 'json')?.message).toMatch(/comma before }.*line 4, column 1$/);
  expect(exitCode).toBe(8);
});

test('the examples have no mistake, comments are none, and a new recipe has only what is to be filled in', async () => {
  expect((await run('check', 'docs/recipes', '--json')).json()).toMatchObject({
    recipes: ['F1', 'X9', 'S2', 'S1'].map((carrier) => ({ carrier })),
    mistakes: [],
  });
  const careless = example();
  for (const part of ['mail', 'manage']) delete careless[part];
  careless.search.steps.push({ do: 'gone', at: { css: 'li >> nth=0' } });
  careless.search.out.read.departs.optional = true;
  const note = join(folder, 'note.json');
  writeFileSync(note, JSON.stringify(careless));
  const noted = await run('check', note, '--json');
  expect(noted.exitCode).toBe(0);
  expect(noted.json()).toMatchObject({
    recipes: [
      {
        notes: [
          expect.stringContaining('neither "mail" nor "manage"'),
          expect.stringContaining('search.out.read has no "stops"'),
          expect.stringContaining('search.back.read has no "stops"'),
          expect.stringMatching(/^search\.steps\[\d+\]\.at\.css points by position/),
          expect.stringContaining('search.out.read.departs is needed: "optional" changes nothing'),
        ],
      },
    ],
  });
  const file = join(folder, 'x8.json');
  expect((await run('new', 'X8', '--site', 'https://www.carrier.example', '--out', file)).exitCode).toBe(0);
  const { mistakes } = (await run('check', file, '--json')).json() as { mistakes: { code: string }[] };
  expect(new Set(mistakes.map(({ code }) => code))).toEqual(new Set(['fill_in']));
  const written = readFileSync(file, 'utf8');
  expect(written).toContain('"//"');
  const { $schema } = JSON.parse(written) as { $schema: string };
  expect(JSON.parse(readFileSync(new URL($schema), 'utf8'))).toMatchObject({ $id: 'urn:farelock:schema:recipe' });
  // An existing file is somebody's work.
  expect((await run('new', 'X8', '--site', 'https://www.carrier.example', '--out', file)).exitCode).toBe(2);
  expect((await run('new', 'x', '--site', 'https://www.carrier.example')).exitCode).toBe(2);
  expect(existsSync(join(folder, 'home', 'service.db'))).toBe(false);
});
