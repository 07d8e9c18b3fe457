import { expect, test } from 'vitest';
import { openVisit, runSteps, walkOf } from '../../../src/airlines/browser/page/index.ts';
import { installed, type Recipe, type Step } from '../../../src/airlines/browser/recipes/index.ts';
import { type Trial, tryRecipe } from '../../../src/airlines/browser/trial/index.ts';
import { createWatch } from '../../../src/airlines/browser/trial/watch.ts';
import { rounds } from '../../rounds.ts';
import { chromium, recipeFor, serve } from './site.ts';
import { browsersHere, NOTHING_SOLD, openTrialSite, profilesHere } from './trial-site.ts';

const SCENARIOS = [
  ...['none', 'layout_changed', 'two_buttons', 'popup_stuck', 'pays_itself', 'total_moves', 'redirect_elsewhere'],
  ...['captcha', 'sold_out', 'form_rejected', 'insurance_sticks', 'cookie_late', 'price_differs_at_till'],
] as const;
const MOST_MS = 3 * 3_600_000;

/** A recipe whose visits ask for a scenario. */
function at(recipe: Recipe, scenario: string): Recipe {
  const one = structuredClone(recipe);
  const [open] = one.search.steps;
  if (open?.do === 'open') open.path = `/?scenario=${scenario}`;
  return one;
}

test.runIf(chromium)(
  '200 visits of trials leave no sale, no press, no card and no process, whatever the site does',
  async () => {
    const site = await openTrialSite();
    const most = rounds(2, 200);
    const ends: Record<string, number> = {};
    let visits = 0;
    let kept: Trial['kept'] | null = null;
    for (let i = 0; visits < most; i++) {
      const scenario = SCENARIOS[i % SCENARIOS.length] ?? 'none';
      // A known search is one visit, a new one two.
      const trial: Trial = await tryRecipe({
        ...site.given(at(site.recipe, scenario)),
        kept: i % 3 === 1 ? kept : null,
      });
      visits += trial.watch.visits;
      kept = trial.kept;
      const end = trial.failure ? `${trial.failure.part} ${trial.failure.kind}` : `till ${trial.till?.isAgreed}`;
      ends[`${scenario}: ${end}`] = (ends[`${scenario}: ${end}`] ?? 0) + 1;
      expect({ paid: site.paid, browsers: browsersHere(), profiles: profilesHere() }).toEqual({
        ...{ paid: [], browsers: 0, profiles: [] },
      });
    }
    expect(await site.shop.sales()).toEqual(NOTHING_SOLD);
    process.stderr.write(`${visits} visits: ${JSON.stringify(ends)}\n`);
    await site.shop.close();
  },
  MOST_MS,
);

test.runIf(chromium)(
  'a list box that a step opened is still open for the next',
  async () => {
    const page = `<h1 id="head">Shut</h1>
    <button onclick="list.hidden = false; head.textContent = 'Open'">Gender</button>
    <ul role="listbox" id="list" hidden><li role="option">Female</li></ul>
    <p style="height:3000px"><script>onresize = () => list.remove()</script>`;
    const site = await serve({ '/': page });
    const recipe = recipeFor(site.base);
    const watch = createWatch(recipe);
    const browser = { playwright: installed('playwright-core').chromium, chromium: chromium ?? '', visitMs: 30_000 };
    const visit = await openVisit({ ...browser, watcher: watch.watcher }, recipe);
    watch.attend(visit);
    const steps = [
      { do: 'open', path: '/' },
      { do: 'click', at: { role: 'button', name: 'Gender' } },
      { do: 'click', at: { role: 'option', name: 'Female' } },
    ] satisfies Step[];
    await runSteps(walkOf(visit, 'passengers', {}), steps);
    expect(watch.steps).toHaveLength(3);
    await visit.close();
    await site.close();
  },
  60_000,
);
