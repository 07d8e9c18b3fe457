import { wordsOf } from '../page/index.ts';
import type { Recipe, Step, Target } from '../recipes/index.ts';
import { likeness, mayPay } from './names.ts';
import type { Near } from './nearest.ts';
import { type Failure, type Kept, type Trial, type TrialOptions, tryRecipe } from './trial.ts';
import { placeIn, type Reading } from './watch.ts';

type Place = readonly (string | number)[];

/** A target that no longer fits, and its replacement. */
export interface Moved {
  readonly step: string;
  readonly place: Place;
  readonly saw: string;
  readonly was: Target;
  /** Null if nothing is like it. */
  readonly now: Near | null;
}

/** A field that a page now writes in another form. */
export interface Changed {
  readonly part: string;
  readonly field: string;
  readonly was: string;
  readonly now: string;
}

const MOST_MOVED = 12;
/** The least likeness of a replacement, and its least lead over the next candidate. */
const LIKE_ENOUGH = 0.45;
const BY = 0.05;

/**
 * Walks today's site up to the till. If a target no longer fits and one element is clearly the most like it, goes on
 * with that, so that one call names all that moved.
 */
export async function examineRecipe(options: Omit<TrialOptions, 'until' | 'kept'>) {
  const moved: Moved[] = [];
  const trials: Trial[] = [];
  const held = new Set<string>();
  let { recipe } = options;
  let kept: Kept | null = null;
  for (;;) {
    const trial: Trial = await tryRecipe({ ...options, recipe, until: 'till', kept });
    trials.push(trial);
    for (const { place } of trial.watch.steps) held.add(place.join('.'));
    const { failure } = trial;
    const now = failure && replacementOf(failure);
    const isNew = !moved.some(({ place }) => place.join('.') === failure?.place?.join('.'));
    if (!now || !failure.place || !failure.target || !isNew || moved.length === MOST_MOVED) {
      for (const { place, target, count, near } of trial.till?.found ?? []) {
        if (count === 1) continue;
        const saw = `found ${count === 0 ? 'no' : count} ${wordsOf(target)}`;
        moved.push({ step: 'till (not touched)', place, saw, was: target, now: near[0] ?? null });
      }
      return { trials, moved, failure, steps: stepsOf(options.recipe, held, moved, failure) };
    }
    const { step, place, saw, target } = failure;
    moved.push({ step, place, saw, was: target, now });
    recipe = put(recipe, place, now.target);
    kept = trial.kept;
  }
}

/** The element to go on with; never at the till, and never one that may pay. */
function replacementOf({ kind, part, saw, target, near }: Failure): Near | null {
  const [first, second] = near;
  const isGone = kind === 'misfit' && part !== 'till' && /^found (no|\d+) /.test(saw) && !mayPay(first?.words ?? '');
  if (!isGone || !first || !target || first.likeness < LIKE_ENOUGH) return null;
  return first.likeness - (second?.likeness ?? 0) >= BY ? first : null;
}

/** Copies a recipe with another value at a place. */
function put<T>(whole: T, [key, ...rest]: Place, value: unknown): T {
  if (key === undefined) return value as T;
  const changed = Array.isArray(whole) ? [...whole] : { ...whole };
  const fields = changed as Record<string | number, unknown>;
  fields[key] = put(fields[key], rest, value);
  return changed as T;
}

/** Every step up to the till, with its state; steps within branches may not be met. */
function stepsOf(recipe: Recipe, held: ReadonlySet<string>, moved: readonly Moved[], failure: Failure | null) {
  const parts = [
    ...[recipe.search.steps, recipe.fares?.steps, recipe.passengers.steps, recipe.extras.steps],
    recipe.till.steps,
  ];
  return parts
    .flatMap((steps) => everyStep(steps ?? []))
    .map((step) => {
      const place = placeIn(recipe, step) ?? [];
      const isWithin = (other: Place | null | undefined) => other?.join('.').startsWith(`${place.join('.')}.`) ?? false;
      const words = 'at' in step && step.at ? wordsOf(step.at) : '';
      if (moved.some((one) => isWithin(one.place))) return { place, step, words, state: 'moved' as const };
      if (held.has(place.join('.'))) return { place, step, words, state: 'holds' as const };
      return { place, step, words, state: isWithin(failure?.place) ? ('stops' as const) : ('not_met' as const) };
    });
}

const everyStep = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [
    step,
    ...('steps' in step ? everyStep(step.steps) : []),
    ...('otherwise' in step ? everyStep(step.otherwise ?? []) : []),
  ]);

const shapeOf = (text: string): string => text.replace(/\d+/g, '9').replace(/\p{L}+/gu, 'a');

/** Fields whose texts all have another form than in the last trial: digits and words in other places. */
export function changedReadings(
  before: readonly (Pick<Reading, 'field' | 'text'> & { readonly part: string })[],
  now: typeof before,
): Changed[] {
  const changed: Changed[] = [];
  const fields = new Set(now.map(({ part, field }) => `${part} ${field}`));
  for (const name of fields) {
    const of = (all: typeof before) =>
      all.filter(({ part, field, text }) => text !== null && `${part} ${field}` === name).map(({ text }) => text ?? '');
    const [was, is] = [of(before), of(now)];
    const [first, today] = [was[0], is[0]];
    const shapes = new Set(was.map(shapeOf));
    if (first === undefined || today === undefined || is.some((text) => shapes.has(shapeOf(text)))) continue;
    if (/^\P{N}*$/u.test(first + today) && likeness(first, today) > 0) continue;
    const [part = '', field = ''] = name.split(' ');
    changed.push({ part, field, was: first, now: today });
  }
  return changed;
}
