import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { privateWords, redacted, showRedacted } from '../../../../src/airlines/browser/page/redact.ts';
import { isPressed, runSteps, walkOf } from '../../../../src/airlines/browser/page/steps.ts';
import type { Visit } from '../../../../src/airlines/browser/page/visit.ts';
import { Misfit, Stopped } from '../../../../src/airlines/browser/page/walk.ts';
import type { Recipe, RecipePart } from '../../../../src/airlines/browser/recipes/index.ts';
import type { Step } from '../../../../src/airlines/browser/recipes/steps.ts';
import { cases, proofTest } from '../../../proof-only.ts';
import { TRAVELLER } from '../shop.ts';
import { chromium, recipeFor, serve, visitTo } from '../site.ts';

const FORM = `<h1>Who flies?</h1>
  <dialog open id="wall" aria-label="Cookies" hidden><button onclick="wall.remove()">No</button></dialog>
  <fieldset><legend>Adult 1</legend><label>First name <input id="first1"></label></fieldset>
  <fieldset><legend>Adult 2</legend><label>First name <input id="first2"></label></fieldset>
  <label>Card <input id="card" oninput="this.value = this.value.replace(/(\\d{4})(?=\\d)/g, '$1 ')"></label>
  <label>Short <input id="short" maxlength="3"></label>
  <label>Title <select id="title"><option>–<option value="MRS">Mrs<option value="MS">Ms</select></label>
  <label><input type="checkbox" name="x" checked> Insurance</label>
  <label><input type="checkbox" name="x"> Seat</label>
  <label><input type="checkbox" id="stuck" checked onchange="setTimeout(() => this.checked = true)"> Sticky</label>
  <button id="swallowed" onmousedown="if (!this.dataset.was) { this.dataset.was = 1; wall.hidden = false; wall.style.cssText = 'position:fixed;inset:0;margin:0;width:100%;height:100%;max-width:none;max-height:none' }"
    onclick="led.textContent = 'Led on'">Lead on</button> <p id="led">Nowhere</p>
  <button id="once" onclick="this.dataset.times = 1 + Number(this.dataset.times ?? 0)">Go on</button>
  <button disabled>Pay</button> <button>Same</button> <button>Same</button>
  <a href="/next">Next</a> <p id="late"></p>
  <ul id="faults" hidden><li data-field="Passport">is wrong for Zqquillfeather</li></ul>
  <script>setTimeout(() => late.textContent = 'Ready now', 300)</script>`;

describe.runIf(chromium)('a recipe’s steps', () => {
  let site: Awaited<ReturnType<typeof serve>>;
  let visit: Visit;
  let recipe: Recipe;
  beforeAll(async () => {
    site = await serve({
      '/': FORM,
      '/next': '<h1>Next page</h1>',
      '/500': () => ({ status: 503, body: '<h1>Later</h1>' }),
    });
    recipe = recipeFor(site.base, {
      walls: [
        { seen: { role: 'dialog', name: 'Cookies' }, steps: [{ do: 'click', at: { role: 'button', name: 'No' } }] },
        { seen: { text: 'Are you a person?' }, stop: 'captcha' },
      ],
      rejected: {
        list: { css: '#faults li' },
        field: { attribute: 'data-field', map: { Passport: 'passport_number' } },
      },
    });
    visit = await visitTo(recipe);
  });
  afterAll(async () => {
    await visit?.close();
    await site?.close();
  });

  const run = (steps: Step[], part: RecipePart = 'passengers', passengers = [TRAVELLER]) =>
    runSteps(
      walkOf(visit, part, { 'card.number': '4000001234567899' }),
      steps.map((step) => ({ within_ms: 400, ...step })),
      passengers,
    );
  const value = (id: string) => visit.page.locator(id).inputValue();

  test('do what they say, past a wall that comes up meanwhile', async () => {
    await run([{ do: 'open', path: '/' }]);
    await visit.page.evaluate("document.getElementById('wall').hidden = false");
    const group = { role: 'group', name: 'Adult {passenger.number}', exact: true } as const;
    await run(
      [
        {
          do: 'passengers',
          steps: [{ do: 'fill', at: { in: group, find: { label: 'First name' } }, value: '{passenger.given_name}' }],
        },
        { do: 'type', at: { label: 'Card' }, value: '{card.number}' },
        { do: 'choose', at: { label: 'Title' }, value: '{passenger.title}', map: { ms: 'MS' } },
      ]
        .map((step) => step as Step)
        .slice(0, 2),
      'till',
      [TRAVELLER, { ...TRAVELLER, given_name: 'Zqsecond' }],
    );
    await run([
      {
        do: 'passengers',
        steps: [{ do: 'choose', at: { label: 'Title' }, value: '{passenger.title}', map: { ms: 'MS' } }],
      },
      { do: 'untick_all', at: { css: 'input[name=x]' } },
      { do: 'tick', at: { label: 'Seat' } },
      {
        do: 'when',
        seen: { text: 'Ready' },
        within_ms: 1_000,
        steps: [{ do: 'click', at: { role: 'button', name: 'Go on' } }],
      },
      {
        do: 'when',
        seen: { text: 'Never' },
        steps: [{ do: 'stop', with: 'captcha' }],
        otherwise: [{ do: 'gone', at: { role: 'dialog' } }],
      },
      { do: 'expect', at: { css: '#late' }, text: 'ready NOW' },
    ]);
    expect([await value('#first1'), await value('#first2')]).toEqual([TRAVELLER.given_name, 'Zqsecond']);
    expect(await value('#card')).toBe('4000 0012 3456 7899');
    expect(await value('#title')).toBe('MS');
    expect(await visit.page.locator('#once').getAttribute('data-times')).toBe('1');
    expect(await visit.page.locator(':checked:not(option)').count()).toBe(2);
  });

  proofTest(
    'a click that a pop-up of the same moment has swallowed is made again, where it says what it leads to',
    async () => {
      const lead = { do: 'click', at: { role: 'button', name: 'Lead on' } } as const;
      await run([{ do: 'open', path: '/' }, lead]);
      await expect(run([{ do: 'expect', at: { css: '#led' }, text: 'Led on' }])).rejects.toThrow('another text');
      await run([
        { do: 'open', path: '/' },
        { ...lead, leads_to: { text: 'Led on' }, within_ms: 15_000 },
      ]);
      // Without a wall in between it is clicked once, whatever comes of it.
      const once = { do: 'click', at: { role: 'button', name: 'Go on' }, leads_to: { text: 'Never' } } as const;
      await expect(run([once])).rejects.toThrow('found no text "Never"');
      expect(await visit.page.locator('#once').getAttribute('data-times')).toBe('1');
    },
  );

  test.each(
    cases<[string, Step, RegExp]>(
      [
        [
          'nothing that fits',
          { do: 'click', at: { role: 'button', name: 'Pay now' } },
          /passengers 1 \(click button "Pay now"\): found no button "Pay now", on \/ \("Who flies\?"\)/,
        ],
        ['two that fit', { do: 'click', at: { role: 'button', name: 'Same' } }, /found 2 button "Same"/],
        [
          'a field that keeps something else',
          { do: 'fill', at: { label: 'Short' }, value: '{card.number}' },
          /holds something else/,
        ],
        [
          'a box that ticks itself again',
          { do: 'untick_all', at: { label: 'Sticky' } },
          /1 of field "Sticky" ticked|does not stand still/,
        ],
        ['another text', { do: 'expect', at: { role: 'heading' }, text: 'Pay' }, /another text/],
        ['what stays', { do: 'gone', at: { role: 'heading' } }, /still there/],
        ['a page that answers 503', { do: 'open', path: '/500' }, /the site answered 503/],
        ['an address of another site', { do: 'open', path: '//evil.example/' }, /another site/],
        [
          'a name without a value',
          { do: 'fill', at: { label: 'Short' }, value: '{return_date}' },
          /there is no return_date/,
        ],
      ],
      [
        ['one that is disabled', { do: 'click', at: { role: 'button', name: 'Pay' } }, /covered or disabled/],
        ['an option that there is not', { do: 'choose', at: { label: 'Title' }, value: 'DUKE' }, /Title/],
      ],
    ),
  )('stop at %s, and say where and what they saw', async (_what, step, said) => {
    const failed = await run([step]).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(Error);
    expect((failed as Error).message).toMatch(said);
    if (step.do === 'open') await visit.page.goto(site.base);
    else expect(failed instanceof Misfit || step.do === 'fill' || step.do === 'choose').toBe(true);
  });

  test('end with the site’s complaint, in our names of the fields; and with a captcha wherever it comes', async () => {
    await visit.page.evaluate("document.getElementById('faults').hidden = false");
    const next: Step = { do: 'expect', at: { role: 'heading', name: 'Next page' } };
    await expect(run([next])).rejects.toMatchObject({ reason: { rejected: ['passport_number'] } });
    await expect(run([next], 'search')).rejects.toBeInstanceOf(Misfit);
    await visit.page.evaluate("document.getElementById('late').textContent = 'Are you a person?'");
    await expect(run([next])).rejects.toThrow(Stopped);
  });

  test('what is kept of a page names nobody, however the page writes it', async () => {
    await visit.page.evaluate(`document.body.innerHTML = \`<p>Dear ZQQUILLFEÁTHER</p><p>4000-0012-3456-7899</p>
      <p><span>Zqquill</span><b>feather</b></p><input value="ZQ7714093"><p title="zq.josefine@example.org">+351 912 345 678</p>
      <div id="host"></div><script>setInterval(() => document.title = 'Zqquillfeather')<\\/script>\`;
      document.getElementById('host').attachShadow({ mode: 'open' }).innerHTML = '<i>Zqquillfeather</i>';`);
    const personal = ['Zqquillfeather', 'ZQ7714093', '+351912345678', '4000001234567899', '1988-04-17'];
    const { text, screenshot } = await showRedacted(visit.page, personal);
    expect(screenshot?.subarray(1, 4).toString()).toBe('PNG');
    expect(text).toMatch(/Dear █+/);
    const left = `${text}${await visit.page.content()}`;
    expect(left).not.toMatch(/zqquill|feather|ZQ7714093|7899|912 ?345|josefine/i);
    expect(await visit.page.evaluate("document.getElementById('host').shadowRoot.textContent")).toBe('█████');
  });
});

test('short names are taken out as words, and long ones wherever they are', () => {
  const words = privateWords(['Li', 'Müller', '1988-04-17']);
  expect(redacted('Mr LI of Berlin, MULLER/LIMR, Mueller, muller@x.example, 1988.04.17, 17.04.1988', words)).toBe(
    'Mr █████ of Berlin, █████/LIMR, █████, █████, █████, 17.04.1988',
  );
});

test('a press counts as made unless it is certain that none was begun', async () => {
  const pressed = (error: Error | null, tells?: boolean) =>
    isPressed({ click: () => (error ? Promise.reject(error) : Promise.resolve()) }, tells);
  const timedOut = (log: string) => Object.assign(new Error(`Timeout\n${log}`), { name: 'TimeoutError' });
  const covered = timedOut('attempting click action\n  another element intercepts pointer events');
  expect(await pressed(null)).toBe(true);
  expect(await pressed(covered)).toBe(false);
  expect(await pressed(timedOut('attempting click action\n  performing click action'))).toBe(true);
  // The page went away meanwhile, or another version's log says it in other words.
  expect(await pressed(new Error('Execution context was destroyed'))).toBe(true);
  expect(await pressed(covered, false)).toBe(true);
});
