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
