import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noteExit } from '../../../../src/airlines/browser/exits.ts';
import { readFares } from '../../../../src/airlines/browser/fares.ts';
import { takeFlights } from '../../../../src/airlines/browser/flights.ts';
import { itemsOf } from '../../../../src/airlines/browser/page/read.ts';
import { showRedacted } from '../../../../src/airlines/browser/page/redact.ts';
import { runSteps, walkOf } from '../../../../src/airlines/browser/page/steps.ts';
import type { Visit } from '../../../../src/airlines/browser/page/visit.ts';
import { shown } from '../../../../src/airlines/browser/page/walk.ts';
import type { Recipe, Step } from '../../../../src/airlines/browser/recipes/index.ts';
import { contactValues } from '../../../../src/airlines/browser/to-till.ts';
import { QUERY, TRAVELLER } from '../shop.ts';
import { chromium, recipeFor, serve, visitTo } from '../site.ts';

/** The words of recipes for what real sites have, each on a page that has it. */

const CALENDAR = `<h1>When?</h1><h2 id="month">November 2026</h2><button id="next">Next month</button>
  <p id="picked">nothing</p><div id="days"></div>
  <script>
    const months = ['November 2026', 'December 2026', 'January 2027', 'February 2027'];
    let at = 0;
    const draw = () => { month.textContent = months[at]; days.innerHTML = '<button onclick="picked.textContent = months[at]">15</button>'; };
    next.onclick = () => { at += 1; setTimeout(draw, 120); };
    draw();
  </script>`;

const MORE = `<h1>Flights</h1><ul id="list"><li>1</li></ul><button id="more" onclick="this.disabled = true;
    setTimeout(() => { list.innerHTML += '<li>n</li>'; this.disabled = false; if (list.children.length > 3) this.remove(); }, 100)">Show more</button>`;

const FORM = `<h1>Who?</h1>
  <fieldset><legend>Title</legend><label><input type="radio" name="t" value="1">Mr.</label> <label><input type="radio" name="t" value="2">Ms.</label></fieldset>
  <button id="box" role="combobox" aria-expanded="false" onclick="options.hidden = false">Gender</button>
  <div id="options" role="listbox" hidden><div role="option" onclick="box.textContent = 'male'; options.hidden = true">Male</div>
    <div role="option" onclick="box.textContent = 'female'; options.hidden = true">Female</div></div>
  <button class="n" onclick="led.textContent = 'PT'">Portugal</button> <button class="n" onclick="led.textContent = 'DE'">Germany</button> <p id="led"></p>
  <label>Country code <input id="code"></label> <label>Country <input id="iso"></label>
  <label>Mobile <input id="mobile"></label> <label>User <input id="user"></label> <label>Password <input id="password" type="password"></label>`;

const NESTED = `<h1>Pay</h1><iframe title="outer" src="/outer"></iframe><div id="host"></div>
  <script>host.attachShadow({ mode: 'open' }).innerHTML = '<label>Coupon <input></label><button onclick="this.textContent = String.fromCharCode(84, 97, 107, 101, 110)">Use it</button>'</script>`;

const BATCHES = `<h1>Flights</h1><ul id="list"></ul><script>
  const add = (n) => { for (let i = 0; i < n; i++) list.innerHTML += '<li class="flight"><b>T1' + (100 + list.children.length) + '</b> <i>06:40</i> <u>08:00</u> <s>Checking</s></li>'; };
  add(1); setTimeout(() => add(2), 150); setTimeout(() => add(1), 330);
  setTimeout(() => list.querySelectorAll('s').forEach((one, i) => one.textContent = '$' + (50 + i) + '.5'), 520);</script>`;

const ASKS = `<h1>Careful</h1><button onclick="confirm('Is Zqquillfeather right?'); alert('Prices have changed'); this.textContent = 'Asked'">Go</button>`;

const flight = { css: 'li.flight' };

describe.runIf(chromium)('the language of recipes', () => {
  let site: Awaited<ReturnType<typeof serve>>;
  let recipe: Recipe;
  let visit: Visit;
  beforeAll(async () => {
    site = await serve({
      ...{ '/calendar': CALENDAR, '/more': MORE, '/form': FORM, '/nested': NESTED, '/batches': BATCHES, '/asks': ASKS },
      '/club': '<h1>Club</h1><iframe title="outer" src="/wide"></iframe><iframe title="bank" src="/inner"></iframe>',
      // Another host's, in a process of its own.
      '/wide': ({ socket }) => ({
        body: `<iframe title="inner" src="http://localhost:${socket.localPort}/inner"></iframe>`,
      }),
      '/outer': '<iframe title="inner" src="/inner"></iframe>',
      '/inner': `<label>Card number <input></label><p>Secure</p>
        <script>setInterval(() => document.querySelector('p').textContent = 'Sec' + 'ure', 20)</script>`,
    });
    recipe = recipeFor(site.base, {
      walls: [
        { seen: { text: 'Robot?', frame: 'iframe.wall' }, stop: 'captcha' },
        { seen: { text: 'Sold out', exact: true }, stop: 'sold_out' },
      ],
      search: {
        steps: [{ do: 'open', path: '/batches' }],
        price_for: 'one',
        out: {
          list: flight,
          read: {
            flight_number: { at: { css: 'b' } },
            departs: { at: { css: 'i' }, format: 'HH:mm' },
            arrives: { at: { css: 'u' }, format: 'HH:mm' },
            price: { at: { css: 's' } },
          },
        },
      },
      passengers: {
        steps: [{ do: 'fill', at: { label: 'x' }, value: '{contact.phone_country} {contact.phone_national}' }],
      },
    });
    delete recipe.fares;
    recipe.site.symbols = { $: 'USD' };
    visit = await visitTo(recipe, 300_000, { user: 'zqoperator', password: 'p#ss "wörd"' });
  });
  afterAll(async () => {
    await visit?.close();
    await site?.close();
  });

  const values = () => ({ ...contactValues(TRAVELLER, null), depart_date: '2027-01-15' });
  const run = (steps: Step[], within = 2_000) =>
    runSteps(
      walkOf(visit, 'passengers', values()),
      steps.map((step) => ({ within_ms: within, ...step })),
      [TRAVELLER],
    );
  const open = (path: string) => run([{ do: 'open', path }]);
  const text = (css: string) => visit.page.locator(css).textContent();
  const value = (css: string) => visit.page.locator(css).inputValue();

  test('turn a calendar to its month, and "show more" to its end; and end where there is none', async () => {
    await open('/calendar');
    const turn = { do: 'click', at: { role: 'button', name: 'Next month' } } as const;
    await run([
      {
        do: 'repeat',
        until: { role: 'heading', name: '{depart_date:MMMM YYYY}' },
        most: 12,
        steps: [turn],
        within_ms: 600,
      },
      { do: 'click', at: { role: 'button', name: '{depart_date:D}', exact: true } },
    ]);
    expect(await text('#picked')).toBe('January 2027');
    const never: Step = { do: 'repeat', until: { text: 'July 2030' }, most: 1, steps: [turn], within_ms: 100 };
    await expect(run([never])).rejects.toThrow('no end after 1 times');
    await open('/more');
    const more = { role: 'button', name: 'Show more' } as const;
    await run([{ do: 'repeat', while: more, most: 9, steps: [{ do: 'click', at: more }], within_ms: 400 }]);
    expect(await visit.page.locator('li').count()).toBe(4);
  });

  test('pick radios, list boxes and buttons by our values; give a phone in parts, and an account', async () => {
    await open('/form');
    await run([
      {
        do: 'passengers',
        steps: [
          {
            do: 'pick',
            at: { role: 'radio', name: '{picked}', exact: true },
            value: '{passenger.title}',
            map: { mr: 'Mr.', ms: 'Ms.' },
          },
          {
            do: 'pick',
            open: { role: 'combobox' },
            at: { in: { role: 'listbox' }, find: { role: 'option', name: '{picked}', exact: true } },
            value: '{passenger.gender}',
            map: { m: 'Male', f: 'Female' },
          },
          {
            do: 'pick',
            at: { css: 'button.n:has-text("{picked}")' },
            value: '{passenger.nationality}',
            map: { PT: 'Portugal' },
            leads_to: { text: 'PT', exact: true },
          },
        ],
      },
      { do: 'fill', at: { label: 'Country code' }, value: '+{contact.phone_country}' },
      { do: 'fill', at: { label: 'Country', exact: true }, value: '{contact.phone_country:iso}' },
      { do: 'fill', at: { label: 'Mobile' }, value: '{contact.phone_national}' },
      { do: 'fill', at: { label: 'User' }, value: '{account.user}' },
      { do: 'fill', at: { label: 'Password' }, value: '{account.password}' },
    ]);
    expect(await visit.page.locator(':checked').getAttribute('value')).toBe('2');
    expect([await text('#box'), await text('#led')]).toEqual(['female', 'PT']);
    expect([await value('#code'), await value('#iso'), await value('#mobile')]).toEqual(['+351', 'PT', '912345678']);
    expect([await value('#user'), await value('#password')]).toEqual(['zqoperator', 'p#ss "wörd"']);
    const nobody = { do: 'pick', at: { text: '{picked}' }, value: '{depart_date}', map: {} } as const;
    await expect(run([nobody])).rejects.toThrow('no option for this value');
  });

  test('reach into frames within frames and shadow roots, by CSS, role and label', async () => {
    await open('/nested');
    const frame = ["iframe[title='outer']", "iframe[title='inner']"];
    await run([
      { do: 'fill', at: { label: 'Card number', frame }, value: '123' },
      { do: 'expect', at: { text: 'Secure', frame } },
      { do: 'fill', at: { label: 'Coupon' }, value: 'TEN' },
      { do: 'click', at: { role: 'button', name: 'Use it' } },
      { do: 'expect', at: { css: '#host button' }, text: 'taken' },
    ]);
    expect(await visit.page.locator('#host input').inputValue()).toBe('TEN');
  });

  test('look in the frame of the whole site but where a place says otherwise; evidence covers other frames', async () => {
    const frames = ["iframe[title='outer']", "iframe[title='inner']"];
    const hosts = [new URL(site.base).host.replace('127.0.0.1', 'localhost')];
    const walls: Recipe['walls'] = [
      { seen: { text: 'Secure', frame: null }, stop: 'captcha' },
      { seen: { text: 'Full', exact: true }, stop: 'sold_out' },
      { seen: { text: 'Used up', exact: true, frame: null }, stop: 'no_fares' },
    ];
    const own = { ...recipe.site, hosts, frame: frames };
    const framed = await visitTo(recipeFor(site.base, { walls, site: own }), 300_000);
    const walk = walkOf(framed, 'search', {});
    await runSteps(walk, [
      { do: 'open', path: '/club' },
      { do: 'fill', at: { label: 'Card number' }, value: '123' },
      { do: 'expect', at: { in: { css: 'body' }, find: { text: 'Secure' } } },
      { do: 'expect', at: { role: 'heading', name: 'Club', frame: null } },
    ]);
    expect(await shown({ ...walk, item: shown(walk, { css: 'label' }) }, { css: 'input' }).inputValue()).toBe('123');
    await framed.page.evaluate(`document.body.insertAdjacentHTML('beforeend', '<p>Used up</p>')`);
    await expect(runSteps(walk, [{ do: 'expect', at: { text: 'never' } }])).rejects.toMatchObject({
      reason: 'no_fares',
    });
    const blackIn = async (own: readonly string[]) => {
      const { screenshot } = await showRedacted(framed.page, ['Secure'], own);
      const url = `data:image/png;base64,${screenshot?.toString('base64')}`;
      return visit.page.evaluate<number>(`(async () => {
        const image = Object.assign(new Image(), { src: ${JSON.stringify(url)} });
        await image.decode();
        const drawing = new OffscreenCanvas(image.width, image.height).getContext('2d');
        drawing.drawImage(image, 0, 0);
        const points = new Uint32Array(drawing.getImageData(0, 0, image.width, image.height).data.buffer);
        return points.filter((one) => one === 0xff222222).length;
      })()`);
    };
    const [all, bank] = [await blackIn([]), await blackIn(frames)];
    // A frame is 300 by 150.
    expect(all).toBeGreaterThan(90_000);
    expect(bank).toBeGreaterThan(45_000 + 2_000);
    expect(bank).toBeLessThan(45_000 + 10_000);
    await framed.page.waitForTimeout(100);
    const other = framed.page.frames().find((one) => one.url().includes('localhost'));
    expect(await other?.locator('p').textContent()).toBe('█████');
    await framed.close();
  });

  test('read a list of several batches when it is still, and the fare from it where there is no fare page', async () => {
    await open('/batches');
    const walk = walkOf(visit, 'search', {});
    expect(await itemsOf(walk, { list: flight, still_ms: 250 })).toHaveLength(4);
    expect(await visit.page.locator('s').last().textContent()).toBe('$53.5');
    const key = { flightNumber: 'T1101', departingAt: `${QUERY.departDate}T06:40:00` };
    const { taken } = await takeFlights(visit, { ...QUERY, adults: 2 }, [key]);
    const [{ fare, item } = {}] = await readFares(walk, 2, taken);
    expect([fare?.totalAmountDecimal, fare?.totalCurrency, fare?.conditions, item]).toEqual([
      '103.00',
      'USD',
      null,
      null,
    ]);
  });

  test('a wall in a frame ends a visit, and the page’s words are kept of one', async () => {
    await open('/nested');
    await visit.page.evaluate(`document.body.innerHTML += '<iframe class=wall srcdoc="<p>Robot?</p>"></iframe>'`);
    await expect(run([{ do: 'expect', at: { text: 'never' } }])).rejects.toMatchObject({
      ...{ reason: 'captcha', words: 'Robot?' },
      during: { part: 'passengers', name: 'passengers 1 (expect text "never")', step: { do: 'expect' } },
    });
  });

  test('what a page asks is answered with no, and is in the report without names, as is no account', async () => {
    await open('/asks');
    await run([
      { do: 'click', at: { role: 'button', name: 'Go' } },
      { do: 'expect', at: { role: 'button' }, text: 'asked' },
    ]);
    visit.personal.add('Zqquillfeather');
    await visit.page.evaluate(`document.body.innerHTML += '<p>Logged in: zqoperator / p#ss "wörd"</p>'`);
    const logged: string[] = [];
    const kept: { text_sealed: Buffer }[] = [];
    const store = { insertInto: () => ({ values: (row: never) => ({ execute: async () => kept.push(row) }) }) };
    const secrets = { seal: (_place: string, bytes: Buffer) => bytes };
    const shop = {
      store,
      secrets,
      clock: { now: () => 0 },
      log: (...said: unknown[]) => logged.push(JSON.stringify(said)),
    };
    await noteExit(shop as never, visit, { subject: 'x', outcome: 'failed', step: 'p#ss "wörd"' });
    const page = kept[0]?.text_sealed.toString() ?? '';
    expect(page).toMatch(
      /^The page asked: confirm on \/asks: Is █+ right\?\nThe page asked: alert on \/asks: Prices have changed\n/,
    );
    expect(`${page}${logged.join()}`).not.toMatch(/zqoperator|p#ss|quillfeather/i);
    expect(logged.join()).toContain('alert on /asks: Prices have changed');
  });
});
