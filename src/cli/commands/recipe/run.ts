import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { onFile } from '../../../kernel/storage.ts';
import { counted, harmlessDocument, type View, wrapBehind } from '../../../terminal/index.ts';
import { settingsIn } from '../../settings/index.ts';
import { type CommandContext, type Run, schemaAddress } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

/** Names every mistake of all recipes. Exit 8 if there is one. */
export const recipeCheck: Run<typeof spec.recipeCheck> = async ({ terminal, session, environment }, { files }) => {
  const given = files.length > 0 ? files : (settingsIn(environment)('recipes') ?? []);
  if (given.length === 0) {
    throw problem('usage', { message: 'Which recipes?', fix: 'Name files or folders, here or in FARELOCK_RECIPES.' });
  }
  const { recipes, mistakes } = (await session.recipeDesk()).readRecipes(given);
  const shown = recipes.map(({ file, recipe: { carrier, version, serves }, notes }) => ({
    ...{ file, carrier: carrier.code, version, routes: serves.routes, notes },
  }));
  terminal.result({ recipes: shown, mistakes }, checkView);
  return mistakes.length === 0 ? 0 : 8;
};

type Checked = DocumentOf<typeof result.recipeCheck>;

const checkView: View<Checked> = {
  list: 'mistakes',
  lines(document, { paint, width }) {
    const { recipes, mistakes } = harmlessDocument(document);
    const files = [...new Set(mistakes.map(({ file }) => file))];
    return [
      ...recipes
        .filter(({ file }) => !files.includes(file))
        .flatMap(({ file, carrier, version, routes, notes }) => [
          `${paint.good('✓')} ${file}: ${carrier}, version ${version}, ${counted(routes.length, 'route')}`,
          ...notes.flatMap((note) => wrapBehind('    ', `Note: ${note}.`, width)),
        ]),
      ...files.flatMap((file) => {
        const own = mistakes.filter((one) => one.file === file);
        return [
          `${paint.bad('✗')} ${paint.bold(file)}: ${counted(own.length, 'mistake')}`,
          ...own.flatMap(({ path, message, nearest }) => {
            const near = nearest === null ? '' : ` Did you mean ${nearest}?`;
            return wrapBehind('    ', `${path === '' ? '' : `${path}: `}${message}.${near}`, width);
          }),
        ];
      }),
    ];
  },
  rows: ({ mistakes }) =>
    mistakes.map(({ file, path, code, message, nearest }) => [file, path, code, message, nearest ?? '–']),
};

export const recipeNew: Run<typeof spec.recipeNew> = async (context, { carrier, site, name, out }) => {
  const { terminal, session, globals } = context;
  const { hostname, origin } = carrierSite(site, carrier);
  if (globals.dryRun) return printPlan(terminal, [out === undefined ? 'Print a new recipe.' : `Write ${out}.`]);
  const recipe = await begunRecipe(session, { code: carrier, name: name ?? hostname, site: origin });
  const text = `${JSON.stringify(recipe, null, 2)}\n`;
  const file = out === undefined ? null : resolve(out);
  if (file !== null) write(file, text);
  terminal.result(
    { file, recipe },
    { lines: (_, { paint }) => (file === null ? text.trimEnd().split('\n') : [`${paint.good('✓')} Wrote ${file}`]) },
  );
  if (file !== null) terminal.aside(['', ...nextLines(farelock`recipe check ${out ?? ''}`)]);
  return 0;
};

/** @throws Problem `usage` for an invalid carrier code or address */
export function carrierSite(url: string, carrier = 'X9'): URL {
  if (!/^[A-Z0-9]{2}$/.test(carrier))
    throw problem('usage', { message: `${carrier} is no carrier code.`, fix: 'Two letters or digits, such as X9.' });
  const site = URL.canParse(url) ? new URL(url) : null;
  if (site && /^https?:$/.test(site.protocol)) return site;
  throw problem('usage', { message: `${url} is no address of a site.`, fix: 'Such as https://www.carrier.example.' });
}

/** A new recipe to fill in. An editor completes it by the schema of the installed package. */
export async function begunRecipe(session: CommandContext['session'], about: Record<'code' | 'name' | 'site', string>) {
  const { newRecipe } = await (await session.recipeDesk()).loadNewRecipe();
  return { $schema: schemaAddress('recipe'), ...newRecipe(about) };
}

/** Writes a new file. @throws Problem `usage` if it exists, or a problem of storage */
export function write(file: string, text: string): void {
  onFile(file, () => {
    try {
      writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw fileThere(file);
    }
  });
}

export const fileThere = (file: string): Error =>
  problem('usage', { message: `${file} exists already.`, fix: 'Name another file with --out.' });
