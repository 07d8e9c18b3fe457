import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { instant } from '../../../kernel/clock.ts';
import { counted, harmlessDocument, type View, wrapBehind } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';
import { keptDocument, nearOf, placeText, type TriedDocument, trialOf, visited } from './trial.ts';
import { besidesLines, failureLines } from './try.ts';

/** Walks today's site to the till, and compares it with the last trial. Exit 8 if something moved or failed. */
export const recipeDoctor: Run<typeof spec.recipeDoctor> = async (context, options) => {
  const { terminal } = context;
  const { desk, recipe, folder, given, withoutAccount } = await trialOf(context, options, 'till');
  const before = keptDocument<TriedDocument>(folder, 'trial.json');
  const namesBefore = (part: string): string | null => {
    const pages = before?.pages.filter((one) => one.part === part) ?? [];
    return pages.length === 0 ? null : pages.map(({ names }) => textOf(join(folder, names))).join('\n');
  };
  terminal.phase(`Visiting ${recipe.carrier.name}`);
  const { trials, moved, steps } = await desk.examineRecipe({ ...given, namesBefore });
  const readings = trials.flatMap(({ watch }) => watch.readings);
  const document: Examined = withoutAccount({
    ...visited({ recipe, trials, folder: join(folder, 'today') }),
    compared_with: before === null ? null : instant(statSync(join(folder, 'trial.json')).mtimeMs),
    steps: steps.map(({ place, step, words, state }) => ({ path: placeText(place), do: step.do, words, state })),
    moved: moved.map(({ place, step, saw, was, now }) => ({
      ...{ path: placeText(place), step, saw, was, now: now && nearOf(now) },
    })),
    changed: before === null ? [] : desk.changedReadings(before.readings, readings),
  });
  terminal.result(document, view);
  return isSound(document) ? 0 : 8;
};

type Examined = DocumentOf<typeof result.recipeDoctor>;

const isSound = ({ moved, changed, failure }: Examined): boolean =>
  failure === null && moved.length === 0 && changed.length === 0;

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

const view: View<Examined> = {
  lines(given, screen) {
    const document = harmlessDocument(given);
    const { paint, width } = screen;
    const { steps, moved, changed, failure } = document;
    const count = (state: Examined['steps'][number]['state']) => steps.filter((one) => one.state === state).length;
    const mark = isSound(document) ? paint.good('✓') : paint.bad('✗');
    const states = [
      `${counted(count('holds'), 'step holds', 'steps hold')}`,
      ...(moved.length > 0 ? [`${moved.length} moved`] : []),
      ...(failure ? [`stopped in ${failure.part}`] : []),
      ...(count('not_met') > 0 ? [`${count('not_met')} not met`] : []),
    ];
    return [
      `${mark} ${paint.bold(document.carrier)}, version ${document.recipe_version}, at ${document.url}: ${states.join(', ')}`,
      paint.dim(
        `  ${document.compared_with === null ? 'There is no earlier trial to compare with.' : `Compared with the trial of ${document.compared_with}.`}`,
      ),
      ...moved.flatMap(({ path, saw, now }) => [
        '',
        ...wrapBehind(`${paint.warn('!')} `, `${path}: ${saw}`, width),
        ...(now === null
          ? []
          : [
              `  there is ${now.words}`,
              `  ${paint.accent(`"${path.split('.').at(-1)}": ${JSON.stringify(now.target)}`)}`,
            ]),
      ]),
      ...(changed.length === 0 ? [] : ['']),
      ...changed.map(({ part, field, was, now }) => `${paint.warn('!')} ${part}, ${field}: "${was}" is now "${now}"`),
      ...failureLines(failure, screen),
      ...besidesLines(document, screen),
      '',
      paint.dim(`Pages of today are in ${document.folder}`),
    ];
  },
};
