import { expect, test } from 'vitest';
import type { Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import { type Trial, tryRecipe } from '../../../src/airlines/browser/trial/index.ts';
import { rounds } from '../../rounds.ts';
import { chromium } from './site.ts';
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
