import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chromium, serve } from '../airlines/browser/site.ts';
import { runInMemory } from './memory.ts';

/** `recipe try` at a site with an account, whose form lies below a pop-up, by a recipe that is half written. */

const folder = mkdtempSync(join(tmpdir(), 'farelock-try-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PAGES = {
  '/': `<h1>Log in</h1><label>User <input></label><label>Password <input type="password"></label>
    <button onclick="alert('Prices of today only');
      if (document.querySelector('[type=password]').value === 's3cret-7') location = '/list'; else said.textContent = 'Invalid credentials'">Log in</button><p id="said"></p>`,
  '/list': `<h1>Flights</h1><p>Welcome otto-7, s3cret-7</p>
    <ul><li><b>X91</b><i>07:20</i><u>2 h 35 min</u><s>$40.30</s><a href="/form">Choose</a></li></ul>`,
  '/form': `<h1>Who flies</h1><button>Next</button>
    <dialog open aria-label="Newsletter" style="position:fixed;inset:0;width:100%;height:100%">Hello</dialog>`,
};

const at = (css: string) => ({ at: { css } });
const FILL_IN = 'FILL IN: later';

const recipeAt = (base: string) => ({
  ...{ format: 1, version: 1, carrier: { code: 'T1', name: 'Test Hopper' } },
  walls: [{ seen: { text: 'Invalid credentials' }, stop: 'account_wall' }],
  site: { base, currency: 'USD', symbols: { $: 'USD' }, numbers: '1,234.50' },
  serves: { routes: ['*-*'] },
  search: {
    steps: [
      { do: 'open', path: '/' },
      { do: 'fill', at: { label: 'User' }, value: '{account.user}' },
      { do: 'fill', at: { label: 'Password' }, value: '{account.password}' },
      { do: 'click', at: { role: 'button', name: 'Log in' }, leads_to: { role: 'heading', name: 'Flights' } },
    ],
    price_for: 'one',
    out: {
      list: { role: 'listitem' },
      read: {
        ...{ flight_number: at('b'), departs: { ...at('i'), format: 'HH:mm' }, price: at('s') },
        ...{ duration: at('u'), carrier_name: { at: { role: 'link' } } },
      },
      choose: { role: 'link', name: 'Choose' },
    },
  },
  passengers: { steps: [{ do: 'click', at: { role: 'button', name: 'Next' }, within_ms: 1 }] },
  extras: { ticked: FILL_IN },
  till: { total: { at: FILL_IN }, card: FILL_IN, pay: FILL_IN },
  confirmation: { seen: FILL_IN, read: { booking_reference: FILL_IN } },
});

test.runIf(chromium)(
  'asks for the account before a visit, keeps it out of all that it writes, and says off a terminal, too, what was in the way',
  async () => {
    const site = await serve(PAGES);
    const [recipe, accounts, out] = ['t1.json', 'accounts.json', 'out'].map((name) => join(folder, name)) as [
      ...[string, string, string],
    ];
    writeFileSync(recipe, JSON.stringify(recipeAt(site.base)));
    writeFileSync(accounts, JSON.stringify({ T1: { user: 'otto-7', password: 's3cret-7' } }), { mode: 0o600 });
    const words = ['recipe', 'try', recipe, '--from', 'VIE', '--to', 'LIS', '--depart', '+30d', '--out', out];
    const run = (until: string, environment = {}) =>
      runInMemory([...words, '--until', until], {
        environment: { FARELOCK_HOME: join(folder, 'home'), ...environment },
      });
    const without = await run('passengers');
    expect(without.exitCode).toBe(2);
    expect(without.stderr).toMatch(/T1 needs an account.*FARELOCK_CARRIER_ACCOUNTS/s);
    const unfinished = await run('till', { FARELOCK_CARRIER_ACCOUNTS: accounts });
    expect(unfinished.exitCode).toBe(2);
    expect(unfinished.stderr).toContain('till.pay: has to be filled in');
    expect(site.asked).toEqual([]);
    writeFileSync(accounts, JSON.stringify({ T1: { user: 'otto-7', password: 'wrong' } }));
    const walled = await run('offers', { FARELOCK_CARRIER_ACCOUNTS: accounts });
    expect(walled.stdout.replace(/\s+/g, ' ')).toContain(
      'search.steps[3], search 4 (click button "Log in"): account_wall: "Invalid credentials"',
    );
    writeFileSync(accounts, JSON.stringify({ T1: { user: 'otto-7', password: 's3cret-7' } }));
    const { exitCode, stdout, stderr } = await run('passengers', { FARELOCK_CARRIER_ACCOUNTS: accounts });
    await site.close();
    expect(exitCode).toBe(8);
    expect(stdout).toContain('button "Next" is covered by dialog "Newsletter"');
    expect(stdout).toContain('alert on /: Prices of today only');
    expect(stdout).toMatch(/X91 +[\d-]{10}T07:20:00 +[\d-]{10}T08:55:00 +40\.30 USD/);
    // The list is read by two visits.
    expect(stdout).toMatch(/search +duration +"2 h 35 min" +155/);
    const files = readdirSync(out);
    expect(files).toContain('3-passengers-who-flies.names.txt');
    const written = [stdout, stderr, ...files.map((name) => readFileSync(join(out, name), 'latin1'))].join('\n');
    expect(written).not.toMatch(/s3cret-7|otto-7/);
  },
  180_000,
);

test.runIf(chromium)(
  'shows the flights and fares of this trial alone, unless it began at the page that the last one left behind them',
  async () => {
    let fares = '<h1>Fares</h1><ul><li><b>Bare</b><s>$40.30</s></li></ul><a href="/form">Next</a>';
    let flights = [['X91', 'X92']];
    const flight = (number: string) =>
      `<li><b>${number}</b><i>07:20</i><u>2 h 35 min</u><s>$40.30</s><a href="/fares">Choose</a></li>`;
    const site = await serve({
      '/list': () => ({
        body: `<h1>Flights</h1><ul>${(flights.length > 1 ? flights.shift() : flights[0])?.map(flight).join('')}</ul>`,
      }),
      '/fares': () => ({ body: fares }),
      '/form': '<h1>Who flies</h1>',
    });
    const [file, out] = ['t2.json', 'out2'].map((name) => join(folder, name)) as [string, string];
    const passengersBy = (name: string) => ({ steps: [{ do: 'click', at: { role: 'link', name }, within_ms: 500 }] });
    const { search, ...given } = recipeAt(site.base);
    const recipe = {
      ...given,
      search: { ...search, steps: [{ do: 'open', path: '/list' }] as object[] },
      fares: { list: { role: 'listitem' }, price_for: 'all', read: { brand: at('b'), price: at('s') } },
      passengers: passengersBy('Next'),
    };
    const tried = async (until: string) => {
      writeFileSync(file, JSON.stringify(recipe));
      const words = ['recipe', 'try', file, '--from', 'VIE', '--to', 'LIS', '--depart', '+30d', '--out', out];
      await runInMemory([...words, '--until', until], { environment: { FARELOCK_HOME: join(folder, 'home') } });
      const {
        offers,
        fares: read,
        failure,
        began_at: began,
        because,
      } = JSON.parse(readFileSync(join(out, 'trial.json'), 'utf8'));
      return [offers.length, read.length, failure?.part ?? null, began, because];
    };
    const seen = [await tried('fares')];
    recipe.passengers = passengersBy('Onward');
    seen.push(await tried('passengers'));
    recipe.passengers = passengersBy('Next');
    seen.push(await tried('passengers'));
    seen.push(await tried('offers'));
    const { steps } = recipe.search;
    recipe.search.steps = [...steps, { do: 'click', at: { role: 'button', name: 'Search' }, within_ms: 1 }];
    seen.push(await tried('fares'));
    recipe.search.steps = steps;
    seen.push(await tried('fares'));
    // The chosen flight is sold when the pages are tried and when it is looked for; a new search then finds none.
    [fares, flights] = ['', [['X93'], ['X93'], []]];
    seen.push(await tried('passengers'));
    const again = 'the page of the last trial is there, as it was left';
    expect(seen).toEqual([
      [2, 1, null, 'search', null],
      [2, 1, 'passengers', 'fares', again],
      [2, 1, null, 'passengers', again],
      [2, 0, null, 'search', null],
      [0, 0, 'search', 'search', null],
      [2, 1, null, 'search', null],
      [0, 0, 'search', 'search', 'the flights of the last trial are gone'],
    ]);
    await site.close();
  },
  180_000,
);
