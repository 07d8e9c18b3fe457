import type { SavedTraveller, TravellerFields } from '../../../client/journal/index.ts';
import { instant } from '../../../kernel/clock.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fieldLines, listView, type Paint, type Screen, utcTime } from '../../../terminal/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  askTraveller,
  type TravellerState,
  travellerFromFile,
  travellerName,
  travellerNamed,
  travellerState,
} from '../../travellers/index.ts';
import { nextLines, printPlan, quoted } from '../../view/index.ts';
import type * as spec from './spec.ts';

const listed = (traveller: SavedTraveller, nowMs: number) => ({
  name: traveller.name,
  ...travellerState(traveller, instant(nowMs).slice(0, 10)),
  saved_at: traveller.savedAt,
});

type ListedTraveller = ReturnType<typeof listed>;

const opened = async ({ session }: CommandContext) => (await session.store()).travellers();

/** Saves a traveller, sealed: from questions on a terminal, or from JSON with one passenger; never from argv. */
export const travellersAdd: Run<typeof spec.travellersAdd> = async (context, options) => {
  const { terminal, streams, globals } = context;
  const name = travellerName(options.name);
  const store = await opened(context);
  const replaces = options.replace === true;
  const known = await store.find(name);
  // Refused before ten answers are typed. The store checks it again, against other processes.
  if (known && !replaces) {
    throw problem('traveller_exists', {
      message: `There is already a traveller ${name}.`,
      detail: { name },
      next: [farelock`travellers add ${name} --replace`],
    });
  }
  const source = options.file ?? (streams.stdin.isTTY ? undefined : '-');
  const fields = source === undefined ? await askTraveller(context) : await travellerFromFile(context, source);
  if (globals.dryRun) return printPlan(terminal, [`Save the traveller ${name} in this home, encrypted.`]);
  await store.keep(name, fields, { replaces });
  const saved = await travellerNamed(context, name);
  terminal.result({ ...listed(saved, context.clock.now()), replaced: known !== undefined }, { lines: savedLines });
  terminal.aside(['', ...nextLines(`farelock book --traveller ${quoted(name)}`)]);
  return 0;
};

/** Shows nothing personal beyond the chosen names. */
export const travellersList: Run<typeof spec.travellersList> = async (context) => {
  const all = await (await opened(context)).all();
  const nowMs = context.clock.now();
  context.terminal.result({ travellers: all.map((one) => listed(one, nowMs)) }, travellersView);
  if (all.length === 0) context.terminal.aside(['', ...nextLines('farelock travellers add ana')]);
  return 0;
};

/** @throws Problem `traveller_not_found` */
export const travellersShow: Run<typeof spec.travellersShow> = async (context, { name }) => {
  const saved = await travellerNamed(context, name);
  context.terminal.result({ ...listed(saved, context.clock.now()), fields: saved.fields }, { lines: travellerLines });
  return 0;
};

/** Also erases the free pages of the file. @throws Problem `traveller_not_found` */
export const travellersRemove: Run<typeof spec.travellersRemove> = async (context, { name }) => {
  const { terminal, globals } = context;
  if (globals.dryRun) {
    const { name: known } = await travellerNamed(context, name);
    return printPlan(terminal, [`Remove the traveller ${known}.`]);
  }
  const wasThere = await (await opened(context)).remove(name);
  // Throws a problem that lists the known names.
  if (!wasThere) await travellerNamed(context, name);
  terminal.result(
    { name, removed: true },
    { lines: (shown, { paint }) => [`${paint.good('✓')} Removed the traveller ${shown.name}`] },
  );
  return 0;
};

const passportText = ({ passport, missing }: TravellerState, paint: Paint): string => {
  if (passport === 'valid') return 'valid';
  if (passport === 'expired') return paint.warn('expired');
  return missing.length < 3 ? paint.warn(`lacks ${missing.join(', ').replaceAll('_', ' ')}`) : paint.dim('none');
};

const travellersView = listView('travellers', {
  none: 'No saved travellers.',
  columns: ({ paint }) => [
    { title: 'Traveller', cuts: true, cell: ({ name }) => name },
    { title: 'Passport', cell: (one) => passportText(one, paint) },
    { title: 'Saved', cell: (one) => utcTime(one.saved_at) },
  ],
  row: ({ name, passport, missing, saved_at }: ListedTraveller) => [name, passport, missing.join(','), saved_at],
});

const savedLines = (
  { name, replaced, ...state }: ListedTraveller & { replaced: boolean },
  { paint }: Screen,
): string[] => [
  `${paint.good('✓')} ${replaced ? 'Replaced' : 'Saved'} the traveller ${paint.bold(name)}, encrypted in this home`,
  ...(state.passport === 'none'
    ? [paint.dim('  The passport is missing or incomplete: low-cost flights need one.')]
    : []),
];

const travellerLines = (
  { name, fields, ...state }: ListedTraveller & { fields: TravellerFields },
  { paint }: Screen,
): string[] => [
  paint.bold(name),
  ...fieldLines(paint.dim, [
    ['Name', `${fields.title ?? ''} ${fields.given_name ?? ''} ${fields.family_name ?? ''}`.trim()],
    ['Date of birth', fields.born_on],
    ['Gender', fields.gender],
    ['E-mail', fields.email],
    ['Phone', fields.phone_number],
    ['Nationality', fields.nationality],
    ['Passport', fields.passport_number],
    ['Valid until', fields.passport_expiry],
    ['Passport status', state.passport === 'valid' ? undefined : passportText(state, paint)],
    ['Saved', utcTime(state.saved_at)],
  ]),
];
