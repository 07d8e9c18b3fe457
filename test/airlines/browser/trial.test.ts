import { afterAll, beforeAll, expect, test } from 'vitest';
import { openVisit, runSteps, walkOf } from '../../../src/airlines/browser/page/index.ts';
import type { Step } from '../../../src/airlines/browser/recipes/index.ts';
import { installed } from '../../../src/airlines/browser/recipes/index.ts';
import { hasValue, placeholderOf, recordedValues } from '../../../src/airlines/browser/recorder/words.ts';
import { changedReadings, examineRecipe, readNames } from '../../../src/airlines/browser/trial/index.ts';
import { namesOn } from '../../../src/airlines/browser/trial/names.ts';
import { importsOf } from '../../house.mjs';
import { proofDescribe, proofTest } from '../../proof-only.ts';
import { QUERY } from './shop.ts';
import { chromium, recipeFor, serve } from './site.ts';
import { browsersHere, movedRecipe, NOTHING_SOLD, openTrialSite, profilesHere } from './trial-site.ts';

/** Every file that a file loads. */
function reachedFrom(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { target, typeOnly } of importsOf(file)) if (target !== null && !typeOnly) reachedFrom(target, seen);
  return seen;
}

test('no module of a trial leads to one that gives a card or presses the pay button', () => {
  const reached = [...reachedFrom('src/airlines/browser/trial/index.ts')];
  expect(reached).toContain('src/airlines/browser/to-till.ts');
  expect(reached.filter((file) => /browser\/(buy|selling|purchases|manage|index)\.ts$/.test(file))).toEqual([]);
});

proofDescribe.runIf(chromium)('at the pretend carrier’s site', () => {
  let site: Awaited<ReturnType<typeof openTrialSite>>;
  beforeAll(async () => {
    site = await openTrialSite();
  });
  afterAll(() => site.shop.close());

  test('the doctor names all that moved, goes on from where it was, and leaves nothing behind', async () => {
    const { trials, moved, failure, steps } = await examineRecipe(site.given(movedRecipe(site.recipe)));
    expect(failure).toBeNull();
    expect(moved.map(({ place, now }) => [place.join('.'), now?.words])).toEqual([
      ['search.out.read.price.at', '.price'],
      ['passengers.steps.0.at', 'button "Continue to passengers"'],
      ['till.pay', 'button "Pay now"'],
    ]);
    expect(trials.at(-1)?.began).toEqual({ at: 'menu', why: 'the page of the last trial is there, as it was left' });
    expect(trials.at(-1)?.till).toMatchObject({ isAgreed: true, total: { decimal: '40.30', currency: 'USD' } });
    expect(steps.filter(({ state }) => state === 'not_met')).toEqual([]);
    expect(steps.filter(({ state }) => state === 'moved').map(({ place }) => place.join('.'))).toEqual([
      'passengers.steps.0',
    ]);
    expect(await site.shop.sales()).toEqual(NOTHING_SOLD);
    expect({ paid: site.paid, browsers: browsersHere(), profiles: profilesHere() }).toEqual({
      ...{ paid: [], browsers: 0, profiles: [] },
    });
  }, 240_000);
});

proofTest.runIf(chromium)('a step at the till that clicks the pay button is stopped at the button', async () => {
  const site = await serve({ '/': '<form action="/paid"><button id="pay">Pay now</button></form>' });
  const recipe = recipeFor(site.base, { till: { total: {}, card: [], pay: { role: 'button', name: 'Pay now' } } });
  const watcher = { done: async () => undefined, read: () => undefined };
  const visit = await openVisit(
    { playwright: installed('playwright-core').chromium, chromium: chromium ?? '', visitMs: 30_000, watcher },
    recipe,
  );
  const steps = [
    { do: 'open', path: '/' },
    { do: 'click', at: { css: '#pay' } },
  ] satisfies Step[];
  await expect(runSteps(walkOf(visit, 'till', {}), steps)).rejects.toThrow('that is the button that pays');
  expect(site.asked).toEqual(['GET /']);
  await visit.close();
  await site.close();
});

proofTest.runIf(chromium)('a password that was typed is not among the names of a page', async () => {
  const site = await serve({ '/': '<label>User <input value="ana"></label><input type="password" value="s3cret-7">' });
  const recipe = recipeFor(site.base, {});
  const ports = { playwright: installed('playwright-core').chromium, chromium: chromium ?? '', visitMs: 30_000 };
  const visit = await openVisit(ports, recipe);
  await runSteps(walkOf(visit, 'search', {}), [{ do: 'open', path: '/' }]);
  const names = await namesOn(visit);
  await visit.close();
  expect(names).toContain('ana');
  expect(names).not.toContain('s3cret-7');
});

test('names on a page are read as they are shown, with quotes and colons', () => {
  const names = [
    '- \'heading "Where: \\"x\\"" [level=1]\'',
    '- textbox "From": VIE',
    '- text: From',
    '- list:',
    '  - listitem: 1 bag',
  ];
  expect(readNames(names.join('\n'))).toEqual([
    { role: 'heading', name: 'Where: "x"' },
    { role: 'textbox', name: 'From' },
    { role: 'text', name: 'From' },
    { role: 'text', name: '1 bag' },
  ]);
});

test('a field changed where its texts have another form, not where they have other numbers', () => {
  const read = (field: string, ...texts: string[]) => texts.map((text) => ({ part: 'search', field, text }));
  const before = [...read('price', '40,30 US$', '1.040,30 US$'), ...read('number', 'X91'), ...read('brand', 'Bare')];
  const now = [...read('price', '$41.30'), ...read('number', 'X9234'), ...read('brand', 'Free')];
  expect(changedReadings(before, now)).toEqual([{ part: 'search', field: 'price', was: '40,30 US$', now: '$41.30' }]);
});

test('typed words become names: of the traveller, of dates in any format, and of a card', () => {
  const values = recordedValues(QUERY);
  expect(
    ['VIE', '2026-12-15', '15 Dec 2026', '15.06.1985', 'NESCIO', '+44 7700 900123', 'SAVE10'].map((typed) =>
      placeholderOf(typed, values),
    ),
  ).toEqual([
    ...['{origin}', '{depart_date}', '{depart_date:D MMM YYYY}', '{passenger.born_on:DD.MM.YYYY}'],
    ...['{passenger.family_name:upper}', '{contact.phone_number}', null],
  ]);
  expect(['4000 0000 0000 0002', '12/31', '737'].map((typed) => placeholderOf(typed, values, true))).toEqual([
    ...['{card.number}', '{card.expiry:MM/YY}', '{card.cvc}'],
  ]);
  // A code that was typed behind what the field held.
  expect(['SFOVIE', 'to VIE', 'Viennese'].map((typed) => hasValue(typed, values))).toEqual([true, true, false]);
});
