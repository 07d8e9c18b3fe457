import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadNewRecipe, readRecipes } from '../../../src/airlines/browser/recipes/index.ts';
import { openRecording } from '../../../src/airlines/browser/recorder/index.ts';
import { QUERY } from './shop.ts';
import { chromium, serve } from './site.ts';
import { NOTHING_SOLD, openTrialSite } from './trial-site.ts';

test.runIf(chromium)(
  'a walk becomes a draft with names instead of positions and our words instead of the person’s, and pays nothing',
  async () => {
    const { shop, paid } = await openTrialSite();
    const folder = mkdtempSync(join(tmpdir(), 'farelock-record-'));
    const recording = await openRecording({ chromium: null, url: `${shop.base}/`, query: QUERY, isHeaded: false });
    const { page, typed } = recording;
    page.setDefaultTimeout(20_000);
    const press = async (role: 'button' | 'radio', name: string | RegExp) => {
      const one = page.getByRole(role, { name }).first();
      await one.scrollIntoViewIfNeeded();
      const box = await one.boundingBox();
      if (!box) throw new Error(`no ${name}`);
      await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      await recording.settled();
      await page.waitForTimeout(700);
      await recording.settled();
    };
    const fill = (label: string, value = '', frame: Pick<typeof page, 'getByLabel'> = page) =>
      frame
        .getByLabel(label)
        .fill(value)
        .then(() => page.keyboard.press('Tab'));
    try {
      await press('button', 'Only necessary cookies');
      await fill('From', typed.origin);
      await fill('To', typed.destination);
      await fill('Departure', typed.depart_date);
      await page.getByLabel('Adults').selectOption('1');
      await press('button', 'Search flights');
      recording.begins('flights');
      const late = page.getByRole('button', { name: 'No, thanks' });
      await page.waitForTimeout(1_200);
      if (await late.isVisible()) await press('button', 'No, thanks');
      await press('button', /^Choose/);
      await press('button', 'Continue to fares');
      recording.begins('fares');
      await press('radio', /^Choose/);
      await press('button', 'Continue to passengers');
      recording.begins('passengers');
      await page.getByLabel('Title').selectOption('MS');
      await fill('First name', typed['passenger.given_name']);
      await fill('Last name', typed['passenger.family_name']);
      await page.getByLabel('Gender').selectOption('female');
      await fill('Date of birth', '15/06/1985');
      await page.getByLabel('Nationality').selectOption('GB');
      await fill('Passport number', typed['passenger.passport_number']);
      await fill('Passport expires', typed['passenger.passport_expiry']);
      await fill('E-mail', typed['contact.email']);
      await fill('Mobile phone', typed['contact.phone_number']);
      await press('button', 'Continue to extras');
      recording.begins('extras');
      await press('button', 'Continue to payment');
      recording.begins('till');
      const frame = page.frameLocator('iframe[title="Card details"]') as unknown as typeof page;
      await fill('Name on card', typed['card.holder'], frame);
      await fill('Card number', '4000 0000 0000 0002', frame);
      await fill('Expiry date', '12/31', frame);
      await fill('Security code', typed['card.cvc'], frame);
      await press('button', 'Pay now');
      const { newRecipe } = await loadNewRecipe();
      const draft = recording.draft(newRecipe({ code: 'X9', name: 'Hopper', site: shop.base }));
      const file = join(folder, 'x9.json');
      writeFileSync(file, JSON.stringify(draft));
      const { mistakes } = readRecipes([file]);
      expect(mistakes.filter(({ code }) => code !== 'fill_in')).toEqual([]);
      expect(JSON.stringify(draft)).not.toMatch(/4000|737|Nomen|Nescio|900900123|nomen\.nescio/);
      expect(draft).toMatchObject({
        search: {
          steps: [
            { do: 'open', path: '/' },
            { do: 'fill', at: { label: 'From', exact: true }, value: '{origin}' },
            { do: 'fill', at: { label: 'To', exact: true }, value: '{destination}' },
            { do: 'fill', at: { label: 'Departure', exact: true }, value: '{depart_date}' },
            { do: 'choose', label: '{adults}' },
            { do: 'click', at: { role: 'button', name: 'Search flights' }, leads_to: { name: 'Choose your flights' } },
          ],
          out: { list: { in: { name: 'Outbound flights' }, find: { role: 'listitem' } }, choose: { role: 'button' } },
        },
        fares: { list: { role: 'article' }, choose: { role: 'radio' } },
        till: {
          card: [
            { at: { label: 'Name on card' }, value: '{card.holder}' },
            { at: { label: 'Card number' }, value: '{card.number}' },
            { value: '{card.expiry:MM/YY}' },
            { at: { label: 'Security code' }, value: '{card.cvc}' },
          ],
          pay: { role: 'button', name: 'Pay now', exact: true },
        },
      });
      expect(JSON.stringify(draft.passengers)).toContain('{passenger.born_on:DD/MM/YYYY}');
      expect(await shop.sales()).toEqual(NOTHING_SOLD);
      expect(paid).toEqual([]);
    } finally {
      await recording.close();
      await shop.close();
      rmSync(folder, { recursive: true });
    }
  },
  180_000,
);

test.runIf(chromium)(
  'a step that could not be written down is named, and leaves a comment in its place',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'farelock-record-'));
    const gone = `<select onchange="setTimeout(() => frameElement.remove())"><option>One</option><option>Two</option></select>`;
    const site = await serve({
      '/': `<h1>Home</h1><label>From <input></label><iframe src="/frame" title="Party"></iframe>`,
      '/frame': gone,
    });
    const recording = await openRecording({ chromium: null, url: `${site.base}/`, query: QUERY, isHeaded: false });
    const { page } = recording;
    try {
      await page.getByLabel('From').fill('VIE');
      await page.keyboard.press('Tab');
      await recording.settled();
      await page.evaluate(
        "const one = frames[0].document.querySelector('select'); one.selectedIndex = 1; one.dispatchEvent(new Event('change'))",
      );
      await page.waitForTimeout(500);
      await recording.settled();
      expect(recording.lines.filter((line) => line.includes('Write its step by hand'))).toHaveLength(1);
      const { newRecipe } = await loadNewRecipe();
      const draft = recording.draft(newRecipe({ code: 'X9', name: 'Hopper', site: site.base }));
      expect(draft.search).toMatchObject({
        steps: [
          { do: 'open' },
          { do: 'fill', value: '{origin}' },
          { '//': expect.stringMatching(/^A step \(choose\) was not written down/) },
        ],
      });
      const file = join(folder, 'x9.json');
      writeFileSync(file, JSON.stringify(draft));
      expect(readRecipes([file]).mistakes).toContainEqual(
        expect.objectContaining({ path: 'search.steps[2].do', code: 'fill_in' }),
      );
    } finally {
      await recording.close();
      await site.close();
      rmSync(folder, { recursive: true });
    }
  },
  60_000,
);
