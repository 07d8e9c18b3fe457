import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from '../../kernel/bounded-file.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { type Recipe, recipeSchema } from './recipe.ts';
import type { Step, Target } from './steps.ts';
import { namesIn } from './template.ts';

/** Reads the recipes of an operator, and refuses what can't be carried out before anything is sold by it. */

const MOST_BYTES = 4 * 1_048_576;

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/;

const refused = (file: string, why: string) =>
  problem('recipe_invalid', { message: `The recipe ${file} cannot be used: ${why}`, detail: { file } });

/** @throws Problem `recipe_invalid` */
export function loadRecipes(
  paths: readonly string[],
  sites: Readonly<Record<string, string>> = {},
): Recipe[] {
  const recipes = paths.flatMap(filesAt).map((file) => load(file, sites));
  const codes = recipes.map(({ carrier }) => carrier.code);
  const twice = codes.find((code, i) => codes.indexOf(code) !== i);
  if (twice !== undefined) throw refused(twice, 'there is another recipe of this carrier.');
  if (recipes.length === 0) throw refused(paths.join(', ') || '(none)', 'there is no .json file.');
  return recipes;
}

function filesAt(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw refused(path, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`);
  }
}

function load(file: string, sites: Readonly<Record<string, string>>): Recipe {
  let json: unknown;
  try {
    const bytes = readBounded(file, { mostBytes: MOST_BYTES });
    if (!bytes) throw refused(file, `it is larger than ${MOST_BYTES / 1_048_576} MB.`);
    json = JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (isProblem(error)) throw error;
    const isJson = error instanceof SyntaxError;
    throw refused(file, isJson ? 'it is not JSON.' : 'it cannot be read.');
  }
  return recipeOf(json, file, sites);
}

/** @throws Problem `recipe_invalid`, with the place of the first mistake */
export function recipeOf(json: unknown, file: string, sites: Readonly<Record<string, string>> = {}): Recipe {
  const read = recipeSchema.safeParse(json);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw refused(file, `${issue?.path.join('.') || 'it'}: ${issue?.message ?? 'is wrong.'}`);
  }
  const base = sites[read.data.carrier.code];
  const recipe = base === undefined ? read.data : { ...read.data, site: { ...read.data.site, base } };
  const wrong = mistakeIn(recipe);
  if (wrong !== null) throw refused(file, wrong);
  return recipe;
}

const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
};

const uses = (part: unknown, prefix: string): boolean =>
  textsIn(part).some((text) => namesIn(text).some((name) => name.startsWith(prefix)));

const CLICKS: ReadonlySet<Step['do']> = new Set(['click', 'tick', 'untick', 'untick_all']);

const everyStep = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [
    step,
    ...('steps' in step ? everyStep(step.steps) : []),
    ...('otherwise' in step ? everyStep(step.otherwise ?? []) : []),
  ]);

/** True where one target is the other in the same or fewer words. At the till they are compared by element, too. */
function isSame(at: Target, pay: Target): boolean {
  if ('in' in at) return 'in' in pay && isSame(at.in, pay.in) && isSame(at.find, pay.find);
  const { exact: _exact, ...named } = 'in' in pay ? pay.find : pay;
  const { exact: _other, ...one } = at;
  const keys = new Set([...Object.keys(one), ...Object.keys(named)]);
  const text = (of: object, key: string) => String((of as Record<string, unknown>)[key] ?? '').toLowerCase();
  return [...keys].every((key) => text(one, key) === text(named, key));
}

/** What the schema can't say. */
function mistakeIn(recipe: Recipe): string | null {
  const { site, till, ...parts } = recipe;
  const { card, ...beforeCard } = till;
  // Where there is no card yet, nothing could be filled in; where there is one, nothing else may see it.
  if (uses(parts, 'card.') || uses(beforeCard, 'card.')) return 'the card is for till.card alone.';
  if (!uses(card, 'card.number')) return 'till.card fills in no card number.';
  const withCard = [...card, ...recipe.walls.flatMap((wall) => ('steps' in wall ? wall.steps : []))];
  if (everyStep(withCard).some((step) => CLICKS.has(step.do) && 'at' in step && isSame(step.at, till.pay)))
    return 'a step clicks till.pay, which code alone presses, once.';
  if (everyStep(card).some((step) => step.do === 'open')) return 'till.card may not leave the till.';
  const { protocol, hostname } = new URL(site.base);
  if (protocol !== 'https:' && !LOOPBACK.test(hostname)) return 'site.base has to be https.';
  return null;
}

/** A site on this machine: nothing real is sold there. */
export const isPretend = ({ site }: Recipe): boolean => LOOPBACK.test(new URL(site.base).hostname);
