import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openRecording } from '../../../src/airlines/browser/recorder/index.ts';
import { QUERY } from './shop.ts';
import { chromium, serve } from './site.ts';

const PAYS = `fetch('/pay', { method: 'POST' })`;
const card = (flight: string) =>
  `<div class="card"><div>${flight}</div><div><button>Details</button><button>Book</button></div></div>`;
const HOME = `<form onsubmit="event.preventDefault(); ${PAYS}"><label>Till <input id="enter"></label><input type="submit" value="Pay"></form>
  <form onsubmit="event.preventDefault(); ${PAYS}"><input type="image" id="image" alt="Pay now" src="/x.png" width="90" height="20"></form>
  <div><button class="first" onclick="${PAYS}">Pay now</button></div> <button onclick="${PAYS}">Pay now</button>
  <label id="label" onclick="${PAYS}">Buy</label> <a id="link" href="/pay">Pay $161</a>
  <div onmousedown="${PAYS}"><b>Pay</b> <i id="part">now</i></div>
  <input id="alone" onkeydown="event.key === 'Enter' && ${PAYS}">
  <div><label>From</label><input></div><div><label>To</label><div><input></div></div>
  <form><input type="email" placeholder="E-mail"><input type="password" placeholder="Password"><button type="button">Log in</button></form>
  <button>Log in</button> <input aria-label="Code" id="code">
  ${card('AA1')}${card('BB2')}
  <label>Full name <input id="name"></label><label>Born <input id="born"></label><div role="dialog" aria-label="Club"><label>Club <input id="club"></label> <button id="done">Done</button></div>
  <label><input type="radio" name="title"> Ms</label>
  <button id="weiter" onclick="${PAYS}">Weiter</button>`;

/** Presses as a person does, and waits until it is written down. */
const hand = (page: Page, settled: () => Promise<void>) => ({
  async press(selector: string) {
    await page.locator(selector).first().click();
    await settled();
  },
  async type(selector: string, text: string, key = 'Tab') {
    await page.locator(selector).fill(text);
    await page.keyboard.press(key);
    await settled();
  },
});

test.runIf(chromium)(
  'nothing that may pay is pressed, and neither a secret nor the invented traveller is in the draft',
  async () => {
    const site = await serve({ '/': HOME, '/pay': 'paid' });
    const recording = await openRecording({ chromium: null, url: `${site.base}/`, query: QUERY, isHeaded: false });
    const { page, lines } = recording;
    const { press, type } = hand(page, recording.settled);
    const steps = () => recording.draft({}) as Record<string, { steps: object[]; out: object; pay: object }>;
    try {
      await type('#enter', 'x', 'Enter');
      for (const one of ['#image', '#label', '#part', '.first']) await press(one);
      expect(steps().till?.pay).toEqual({ css: 'FILL IN: a CSS selector of the button at "Pay now"' });
      await type('#alone', 'x', 'Enter');
      await press('#link');
      expect(steps().till?.pay).toEqual({ role: 'link', name: 'Pay' });
      await type('label:text-is("From") + input', 'VIE');
      await type('label:text-is("To") + div input', 'London (LGW)');
      await type('[type=email]', 'me@home.example');
      await type('[type=password]', 's3cret-word');
      await press('form button');
      await type('#code', 'SAVE');
      recording.begins('flights');
      await press('button:text-is("Book")');
      recording.begins('passengers');
      await type('#name', 'Nescio, Nomen');
      await type('#born', '15 / June / 1985');
      await type('#club', 'K77');
      await press('#done');
      await press('[type=radio]');
      recording.begins('till');
      await press('#weiter');
      expect(site.asked.filter((one) => one.includes('pay'))).toEqual([]);
      const draft = steps();
      expect(draft.search?.steps).toMatchObject([
        { do: 'open' },
        { at: { label: 'Till' } },
        { do: 'FILL IN: the step (enter) at "Pay now"' },
        { at: { css: '#alone' } },
        { at: { css: `div:has(> label:text-is("From")) > input` }, value: '{origin}' },
        { at: { css: `div:has(> label:text-is("To")) > div input` }, value: '{destination_city} ({destination})' },
        { at: { role: 'textbox', name: 'E-mail' }, value: '{account.user}' },
        { at: { role: 'textbox', name: 'Password' }, value: '{account.password}' },
        { do: 'click', at: { css: 'form button:text-is("Log in")' } },
        { value: 'SAVE' },
      ]);
      expect(draft.search?.out).toEqual({
        list: { css: 'div.card' },
        choose: { role: 'button', name: 'Book', exact: true },
      });
      expect(draft.passengers?.steps).toMatchObject([
        {
          do: 'passengers',
          steps: [
            { value: '{passenger.family_name}, {passenger.given_name}' },
            { value: '{passenger.born_on:D / MMMM / YYYY}' },
            { value: 'FILL IN: the value at "Club"' },
            { do: 'click', at: { role: 'button', name: 'Done' } },
            { do: 'pick', at: { role: 'radio', name: '{picked}' }, map: { ms: 'Ms' } },
          ],
        },
      ]);
      expect(draft.till?.pay).toEqual({ role: 'button', name: 'Weiter', exact: true });
      expect(JSON.stringify([draft, lines])).not.toMatch(/s3cret|me@home|Nomen|Nescio|K77/);
      expect(draft).toMatchObject({ serves: { routes: ['VIE-LGW', 'LGW-VIE'] }, fares: undefined, walls: [] });
    } finally {
      await recording.close();
      await site.close();
    }
  },
  60_000,
);
