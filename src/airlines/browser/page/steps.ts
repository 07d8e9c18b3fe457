import { alpha2Of } from '../../../kernel/domain/countries.ts';
import type { Passenger } from '../../../wire/flights/index.ts';
import { filled, namesIn, type RecipePart, type Step, type Target, type Values } from '../recipes/index.ts';
import { CLICK_MS, checkPaysNot, click, ready, TRY_MS } from './click.ts';
import { Misfit, Stopped } from './outcomes.ts';
import type { Visit } from './visit.ts';
import { isSeen, locate, only, pause, seenText, shown, until, type Walk, wordsOf } from './walk.ts';

/** Carries out a recipe's steps. Each is done to the one thing that fits, visible and enabled, or not at all. */

const ACT_MS = 5_000;

export function walkOf(visit: Visit, part: RecipePart, values: Values, cleared = new Map<number, number>()): Walk {
  return { visit, part, values, item: null, cleared, clear: clearWall };
}

async function clearWall(walk: Walk, index: number): Promise<void> {
  const wall = walk.visit.recipe.walls[index];
  if (!wall || !('steps' in wall)) return;
  try {
    await runSteps(walk, wall.steps, [], `wall ${index + 1}`, 2_000);
  } catch (error) {
    // It may have gone by itself while it was being cleared away.
    if (!(error instanceof Misfit) || (await isSeen(walk, wall.seen))) throw error;
  }
}

/**
 * @param passengers for steps that are repeated for each of them
 * @throws Misfit, Stopped, BrowserGone
 */
export async function runSteps(
  walk: Walk,
  steps: readonly Step[] | undefined,
  passengers: readonly Passenger[] = [],
  place: string = walk.part,
  withinMs?: number,
): Promise<void> {
  for (const [i, step] of (steps ?? []).entries()) {
    const name = `${place} ${i + 1} (${step.name ?? `${step.do}${'at' in step ? ` ${wordsOf(step.at)}` : ''}`})`;
    await runStep(walk, { ...step, within_ms: step.within_ms ?? withinMs }, name, passengers);
    const { pause_ms: pauseMs = 0 } = walk.visit.recipe.site;
    if (pauseMs > 0) await pause(pauseMs);
  }
}

async function runStep(walk: Walk, step: Step, name: string, passengers: readonly Passenger[]): Promise<void> {
  switch (step.do) {
    case 'open':
      return open(walk, step.path, name);
    case 'click':
      return click(walk, step, name);
    case 'fill':
    case 'type':
      return write(walk, step, name);
    case 'choose':
      return choose(walk, step, name);
    case 'tick':
    case 'untick': {
      // It stays as it is set: tried again, it is set once.
      await until(walk, name, step.within_ms, async () => {
        const box = shown(walk, step.at);
        const count = await box.count();
        if (count !== 1) return { saw: `found ${count === 0 ? 'no' : count} ${wordsOf(step.at)}` };
        await checkPaysNot(walk, box, name);
        await box.setChecked(step.do === 'tick', { timeout: CLICK_MS });
        return { found: true };
      });
      return;
    }
    case 'untick_all':
      return untickAll(walk, step.at, name, step.within_ms);
    case 'expect':
      return expectText(walk, step, name);
    case 'gone':
      await until(walk, name, step.within_ms, async () =>
        (await isSeen(walk, step.at)) ? { saw: `${wordsOf(step.at)} is still there` } : { found: true },
      );
      return;
    case 'stop':
      throw new Stopped(step.with);
    case 'when':
      return when(walk, step, name, passengers);
    case 'passengers':
      for (const [i, passenger] of passengers.entries()) {
        const values = { ...walk.values, ...passengerValues(passenger, i) };
        await runSteps({ ...walk, values }, step.steps, passengers, `${name} passenger ${i + 1}`);
      }
      return;
  }
}

export function passengerValues(passenger: Passenger, index: number): Record<string, string | undefined> {
  const fields = Object.entries(passenger).map(([field, value]) => [`passenger.${field}`, value ?? undefined]);
  return {
    ...Object.fromEntries(fields),
    // Travellers may write either code; a recipe's selects are for one.
    'passenger.nationality': alpha2Of(passenger.nationality?.toUpperCase() ?? '') ?? undefined,
    'passenger.number': String(index + 1),
    'passenger.index': String(index),
  };
}

async function open(walk: Walk, path: string, name: string): Promise<void> {
  const { page, recipe } = walk.visit;
  const address = new URL(filled(path, walk.values, recipe.site), recipe.site.base);
  if (address.origin !== new URL(recipe.site.base).origin) {
    throw new Misfit(walk.part, name, 'that is an address of another site');
  }
  try {
    const answer = await page.goto(address.href, { waitUntil: 'domcontentloaded', timeout: 30_000 });
    const status = answer?.status() ?? 200;
    if (status >= 500 || status === 429) throw new Misfit(walk.part, name, `the site answered ${status}`);
  } catch (error) {
    if (error instanceof Misfit || !(error instanceof Error)) throw error;
    await until(walk, name, 0, async () => ({ saw: netError(error) }));
  }
}

const netError = ({ message }: Error): string => /net::(\w+)/.exec(message)?.[1] ?? 'the page did not load';

/** Names whose values tell nobody who somebody is. */
const PLAIN = new Set([
  'passenger.number',
  'passenger.index',
  'passenger.title',
  'passenger.gender',
  'passenger.nationality',
]);
const isPersonal = (name: string): boolean => /^(passenger|contact|card)\./.test(name) && !PLAIN.has(name);

async function write(
  walk: Walk,
  { do: how, at, value, within_ms }: Extract<Step, { do: 'fill' | 'type' }>,
  name: string,
): Promise<void> {
  const text = filled(value, walk.values, walk.visit.recipe.site);
  if (namesIn(value).some(isPersonal)) walk.visit.personal.add(text);
  const field = await ready(walk, at, name, within_ms);
  if (how === 'fill') await field.fill(text, { timeout: ACT_MS });
  else {
    await field.fill('', { timeout: ACT_MS });
    await field.pressSequentially(text, { timeout: ACT_MS });
  }
  // Sites group digits as they are typed.
  const bare = (of: string) => of.replace(/[\s./-]/g, '').toLowerCase();
  const isThere = bare(await field.inputValue({ timeout: ACT_MS })) === bare(text);
  if (!isThere) throw new Misfit(walk.part, name, 'the field holds something else than was written');
}

async function choose(walk: Walk, step: Extract<Step, { do: 'choose' }>, name: string): Promise<void> {
  const { site } = walk.visit.recipe;
  const mapped = (text: string) => {
    const ours = filled(text, walk.values, site);
    return step.map ? step.map[ours] : ours;
  };
  const value = step.value === undefined ? undefined : mapped(step.value);
  const label = step.label === undefined ? undefined : mapped(step.label);
  if (value === undefined && label === undefined) {
    throw new Misfit(walk.part, name, 'the recipe has no option for this value');
  }
  if ([step.value, step.label].some((text) => namesIn(text ?? '').some(isPersonal))) {
    for (const text of [value, label]) if (text) walk.visit.personal.add(text);
  }
  const field = await ready(walk, step.at, name, step.within_ms);
  const option = value === undefined ? { label: label ?? '' } : { value };
  await until(walk, name, step.within_ms, async () => {
    const taken = await field.selectOption(option, { timeout: TRY_MS });
    return taken.length === 1 ? { found: true } : { saw: 'no such option' };
  });
}

/** @throws Misfit when one of them stays ticked */
export async function untickAll(walk: Walk, target: Target, name: string, withinMs?: number): Promise<void> {
  await until(walk, name, withinMs, async () => {
    const boxes = await locate(walk, target).all();
    let left = 0;
    for (const box of boxes) {
      if (!(await box.isChecked({ timeout: TRY_MS }))) continue;
      left += 1;
      if (await box.isVisible()) await box.uncheck({ timeout: TRY_MS });
    }
    return left === 0 ? { found: true } : { saw: `${left} of ${wordsOf(target)} ticked` };
  });
}

async function expectText(walk: Walk, step: Extract<Step, { do: 'expect' }>, name: string): Promise<void> {
  const wanted = step.text === undefined ? null : filled(step.text, walk.values, walk.visit.recipe.site);
  if (wanted === null) {
    await only(walk, name, step.at, step.within_ms);
    return;
  }
  await until(walk, name, step.within_ms, async () => {
    const found = shown(walk, step.at);
    if ((await found.count()) !== 1) return { saw: `found no single ${wordsOf(step.at)}` };
    const text = (await seenText(found, TRY_MS)).replace(/\s+/g, ' ').toLowerCase();
    return text.includes(wanted.toLowerCase()) ? { found: true } : { saw: 'another text' };
  });
}

async function when(
  walk: Walk,
  step: Extract<Step, { do: 'when' }>,
  name: string,
  passengers: readonly Passenger[],
): Promise<void> {
  const isThere = await until(walk, name, (step.within_ms ?? 0) + 5_000, async () => {
    const endsAtMs = performance.now() + (step.within_ms ?? 0);
    for (;;) {
      if (await isSeen(walk, step.seen)) return { found: true };
      if (performance.now() >= endsAtMs) return { found: false };
      await pause(50);
    }
  });
  await runSteps(walk, isThere ? step.steps : step.otherwise, passengers, name);
}
