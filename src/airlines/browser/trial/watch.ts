import { createHash } from 'node:crypto';
import type { Visit, Watcher } from '../page/index.ts';
import { pause, shown, walkOf } from '../page/index.ts';
import type { Recipe, RecipePart } from '../recipes/index.ts';
import { namesOn } from './names.ts';

export interface SeenPage {
  readonly part: RecipePart;
  readonly path: string;
  readonly heading: string;
  readonly names: string;
  readonly screenshot: Buffer | null;
}

export interface Reading {
  readonly part: RecipePart;
  readonly field: string;
  /** The page's text; null if nothing was there. */
  readonly text: string | null;
  readonly value: unknown;
}

const DRAW_MS = 5_000;
const SETTLES_MS = 200;
const MOST_SETTLING_MS = 3_000;

/** The place of an object in a recipe, such as `search.steps[1].at`; null if it is not in there. */
export function placeIn(recipe: unknown, wanted: object): (string | number)[] | null {
  if (recipe === wanted) return [];
  if (recipe === null || typeof recipe !== 'object') return null;
  for (const [key, value] of Object.entries(recipe)) {
    const within = placeIn(value, wanted);
    if (within) return [Array.isArray(recipe) ? Number(key) : key, ...within];
  }
  return null;
}

export async function settledNames(visit: Visit): Promise<string> {
  const endsAtMs = performance.now() + MOST_SETTLING_MS;
  let names = await namesOn(visit);
  for (;;) {
    await pause(SETTLES_MS);
    const now = await namesOn(visit);
    if (now === names || performance.now() > endsAtMs) return now;
    names = now;
  }
}

/** Notes the steps, readings and pages of a trial's visits. */
export function createWatch(recipe: Recipe) {
  const steps: { readonly part: RecipePart; readonly step: string; readonly place: readonly (string | number)[] }[] =
    [];
  const readings: Reading[] = [];
  const pages: SeenPage[] = [];
  let last = '';
  let on: Visit | null = null;
  let visits = 0;
  /** Number of readings of earlier visits, which come first. */
  let readBefore = 0;

  async function look(part: RecipePart, isEnd = false): Promise<void> {
    if (!on) return;
    const { page } = on;
    const { pathname } = new URL(page.url());
    const heading = await shown(walkOf(on, part, {}), { role: 'heading' })
      .first()
      .textContent({ timeout: 300 })
      .catch(() => null);
    const key = `${pathname} ${heading}`;
    if (key === last && !isEnd) return;
    if (key === last) pages.pop();
    last = key;
    const names = await namesOn(on);
    pages.push({ part, path: pathname, heading: (heading ?? '').trim(), names, screenshot: await draw(on, isEnd) });
  }

  const watcher: Watcher = {
    async done(part, step, taken) {
      steps.push({ part, step, place: placeIn(recipe, taken) ?? [] });
      await look(part).catch(() => undefined);
    },
    read(part, field, text, value) {
      // Replaces what an earlier visit read of this field.
      for (let i = readBefore - 1; i >= 0; i--) {
        if (readings[i]?.part === part && readings[i]?.field === field) readBefore -= readings.splice(i, 1).length;
      }
      readings.push({ part, field, text, value });
    },
  };
  return {
    ...{ watcher, steps, readings, pages, look },
    get visits() {
      return visits;
    },
    attend(visit: Visit) {
      on = visit;
      visits += 1;
      readBefore = readings.length;
      last = '';
    },
  };
}

/** Takes a screenshot: the last one of the whole page, which resizes the window and so closes list boxes. */
const draw = ({ page }: Visit, isEnd: boolean): Promise<Buffer | null> =>
  page.screenshot({ animations: 'disabled', timeout: DRAW_MS, fullPage: isEnd }).catch(() => null);

export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
