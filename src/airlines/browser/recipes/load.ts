import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from '../../../kernel/bounded-file.ts';
import { jsonFault } from '../../../kernel/json-fault.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { mistakesIn, notesIn } from './check.ts';
import { type Recipe, recipeSchema } from './recipe.ts';
import { isFields, type Mistake, mistake } from './shape.ts';

/** True for a mistake that stops no sale. */
export const isHarmless = ({ code }: Mistake): boolean => code === 'one_way';

const MOST_BYTES = 4 * 1_048_576;

export interface FileMistake extends Mistake {
  readonly file: string;
}

/** Reads recipes, and collects all their mistakes. @param sites addresses in place of theirs, by carrier code */
export function readRecipes(paths: readonly string[], sites: Readonly<Record<string, string>> = {}) {
  const mistakes: FileMistake[] = [];
  const recipes: { readonly file: string; readonly recipe: Recipe; readonly notes: string[] }[] = [];
  const wrong = (file: string, found: Mistake) => mistakes.push({ file, ...found });
  for (const file of paths.flatMap((path) => filesAt(path, wrong))) {
    const read = readRecipe(file, sites);
    for (const one of read.mistakes) wrong(file, one);
    if (!read.recipe) continue;
    const { code } = read.recipe.carrier;
    const other = recipes.find(({ recipe }) => recipe.carrier.code === code);
    if (other)
      wrong(
        file,
        mistake(
          ['carrier', 'code'],
          'cannot_work',
          `${other.file} is a recipe of ${code}, too: serve takes one, and drafts are checked one by one`,
        ),
      );
    recipes.push({ file, recipe: read.recipe, notes: notesIn(read.recipe) });
  }
  return { recipes, mistakes };
}

/**
 * Reads an operator's recipes; one serious mistake refuses them all, before any sale.
 * @throws Problem `recipe_invalid`
 */
export function loadRecipes(paths: readonly string[], sites: Readonly<Record<string, string>> = {}): Recipe[] {
  const { recipes, mistakes } = readRecipes(paths, sites);
  const serious = mistakes.filter((one) => !isHarmless(one));
  if (serious.length > 0) throw refused(serious);
  return recipes.map(({ recipe }) => recipe);
}

function refused(mistakes: readonly FileMistake[]) {
  const lines = mistakes.map(({ file, ...one }) => `${file}: ${mistakeText(one)}`);
  return problem('recipe_invalid', {
    message: `The recipes cannot be used: ${lines.join('; ')}`,
    next: [farelock`recipe check`],
    detail: { mistakes },
  });
}

/** One mistake as a line: `search.steps[1].at: needs one of … (meant: css?)`. */
export const mistakeText = ({ path, message, nearest }: Mistake): string =>
  `${path === '' ? '' : `${path}: `}${message}${nearest === null ? '' : ` (meant: ${nearest}?)`}`;

function filesAt(path: string, wrong: (file: string, found: Mistake) => void): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path).filter((name) => name.endsWith('.json'));
    if (names.length === 0) wrong(path, mistake([], 'unreadable', 'there is no .json file'));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? 'unknown';
    wrong(path, mistake([], 'unreadable', why === 'ENOENT' ? 'there is no such file' : `it cannot be read (${why})`));
    return [];
  }
}

interface ReadRecipe {
  readonly recipe: Recipe | null;
  readonly mistakes: readonly Mistake[];
}

function readRecipe(file: string, sites: Readonly<Record<string, string>>): ReadRecipe {
  const failed = (code: 'json' | 'unreadable', why: string) => ({ recipe: null, mistakes: [mistake([], code, why)] });
  let text: string;
  try {
    const bytes = readBounded(file, { mostBytes: MOST_BYTES });
    if (!bytes) return failed('unreadable', `it is larger than ${MOST_BYTES / 1_048_576} MB`);
    text = bytes.toString('utf8').replace(/^\ufeff/, '');
  } catch (error) {
    if (isProblem(error)) throw error;
    return failed('unreadable', 'it cannot be read');
  }
  const fault = jsonFault(text);
  if (fault) return failed('json', `is no JSON: ${fault.message}, in line ${fault.line}, column ${fault.column}`);
  return checked(JSON.parse(text), sites);
}

function checked(json: unknown, sites: Readonly<Record<string, string>>): ReadRecipe {
  const plain = withoutComments(json);
  const code = isFields(plain) && isFields(plain.carrier) ? plain.carrier.code : undefined;
  const base = typeof code === 'string' ? sites[code] : undefined;
  const used =
    base !== undefined && isFields(plain) && isFields(plain.site) ? { ...plain, site: { ...plain.site, base } } : plain;
  const mistakes = mistakesIn(used);
  return { recipe: mistakes.every(isHarmless) ? recipeSchema.parse(used) : null, mistakes };
}

/** Leaves out `"//"`, the key of comments. */
const withoutComments = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(withoutComments);
  if (!isFields(json)) return json;
  const fields = Object.entries(json).filter(([key]) => key !== '//');
  return Object.fromEntries(fields.map(([key, value]) => [key, withoutComments(value)]));
};

/** @throws Problem `recipe_invalid`, with every mistake and its place */
export function recipeOf(json: unknown, file: string, sites: Readonly<Record<string, string>> = {}): Recipe {
  const { recipe, mistakes } = checked(json, sites);
  if (recipe === null) throw refused(mistakes.map((one) => ({ file, ...one })));
  return recipe;
}
