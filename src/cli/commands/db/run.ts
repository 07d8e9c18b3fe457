import { version } from '../../../../package.json';
import { readBounded } from '../../../kernel/bounded-file.ts';
import { problem } from '../../../kernel/problems.ts';
import type { DatabaseState } from '../../../service/index.ts';
import { fieldLines, listLines, type View } from '../../../terminal/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type Status = DocumentOf<typeof result.dbStatus>;
type Checked = DocumentOf<typeof result.dbCheck>;

export const dbStatus: Run<typeof spec.dbStatus> = async ({ terminal, session }) => {
  const state = await (await session.databaseDesk()).state();
  const shown = shownState(state);
  terminal.result(shown, statusView);
  if (shown.status === 'behind') terminal.aside(['', ...nextLines('farelock db migrate')]);
  return 0;
};

const statusOf = ({ isEmpty, missing, newer }: DatabaseState): Status['status'] =>
  isEmpty ? 'empty' : newer.length > 0 ? 'newer' : missing.length > 0 ? 'behind' : 'current';

const shownState = (state: DatabaseState): Status => ({
  store: state.kind,
  at: state.at,
  server_version: state.version,
  status: statusOf(state),
  version,
  bytes: state.bytes,
  applied: state.applied.toSorted(),
  missing: state.missing,
  newer: state.newer,
  beside: state.beside,
  needs_reconcile: state.needsReconcile,
  tables: state.tables.map(({ name, rows, bytes, keeps }) => ({
    ...{ table: name, rows, bytes, keeps_days: keeps.days, keeps_personal_data_days: keeps.personalDays },
    ...{ setting: keeps.setting, default_days: keeps.usualDays },
  })),
});

const STANDS: Readonly<Record<Status['status'], string>> = {
  current: 'up to date',
  empty: 'empty: the first command that runs the services creates its tables',
  behind: 'behind this version, which may not use it yet',
  newer: 'of a newer version: this one may neither read nor write it',
};

const statusView: View<Status> = {
  lines(shown, screen) {
    const { paint } = screen;
    const steps = (names: readonly string[]) => (names.length === 0 ? null : names.join(', '));
    const tables = shown.tables.filter(({ rows }) => rows > 0);
    return [
      ...fieldLines(
        paint.dim,
        {
          Database: shown.store === 'file' ? shown.at : `PostgreSQL ${shown.server_version}, ${shown.at}`,
          State: (shown.status === 'current' ? paint.good : paint.warn)(STANDS[shown.status]),
          'Used by': `farelock ${shown.version}${shown.status === 'current' ? '' : ': no'}`,
          Restored: shown.needs_reconcile ? paint.warn('not reconciled yet: farelock db reconcile') : null,
          Size: sizeText(shown.bytes),
          Steps: `${shown.applied.length} applied`,
          Missing: steps(shown.missing),
          'Only newer': steps(shown.newer),
          Beside: steps(shown.beside),
        },
        screen.width,
      ),
      ...(tables.length === 0 ? [] : ['']),
      ...(tables.length === 0
        ? []
        : listLines(screen, tables, [
            { title: 'Table', cuts: true, cell: ({ table }) => table },
            { title: 'Rows', cell: ({ rows }) => `${shown.store === 'file' ? '' : '~'}${rows}` },
            { title: 'Size', cell: ({ bytes }) => (bytes === null ? '–' : sizeText(bytes)) },
            { title: 'Kept', cell: keptText },
          ])),
    ];
  },
  rows: ({ tables, status, at, needs_reconcile }) => [
    ['database', status, at, needs_reconcile ? 'needs reconcile' : null],
    ...tables.map((one) => [one.table, one.rows, one.bytes, one.keeps_days, one.keeps_personal_data_days]),
  ],
};

function keptText({ keeps_days: rows, keeps_personal_data_days: personal }: Status['tables'][number]): string {
  if (personal !== null) return `for good; personal data ${personal} days`;
  return rows === null ? 'for good' : rows === 0 ? 'until it expires' : `${rows} ${rows === 1 ? 'day' : 'days'}`;
}

const sizeText = (bytes: number): string =>
  bytes >= 1e9
    ? `${(bytes / 1e9).toFixed(1)} GB`
    : bytes >= 1e6
      ? `${(bytes / 1e6).toFixed(1)} MB`
      : `${Math.ceil(bytes / 1e3)} kB`;

export const dbMigrate: Run<typeof spec.dbMigrate> = async ({ terminal, session, globals }) => {
  const desk = await session.databaseDesk();
  if (globals.dryRun) {
    const { missing, at } = await desk.state();
    const plan = missing.map((step) => `Apply ${step}.`);
    return printPlan(terminal, plan.length > 0 ? plan : [`Nothing: ${at} is up to date.`], { missing });
  }
  terminal.phase('Bringing the database up to date');
  const { steps, tookMs } = await desk.migrate();
  terminal.result({ applied: [...steps], took_ms: tookMs }, {
    lines: ({ applied }, { paint }) => [
      `${paint.good('✓')} ${applied.length === 0 ? 'Up to date already.' : `Applied ${applied.join(', ')}.`}`,
    ],
  } satisfies View<DocumentOf<typeof result.dbMigrate>>);
  return 0;
};

const CHECKS: Readonly<Record<string, readonly [sound: string, wrong: string]>> = {
  integrity: ['The file is sound', 'The file is damaged; restore it from a backup'],
  schema: ['Every table, column and index is there', 'Parts are missing; restore them from a backup'],
  captured_and_refunded: ['No escrow was both captured and refunded', 'Escrows captured and refunded'],
  paid_out_twice: ['No refund was paid out twice', 'Refunds paid out twice'],
  booking_without_intent: ['Every booking has its intent', 'Bookings without an intent'],
  booked_without_order: ['Every booked intent has its order', 'Booked intents without an order'],
};

export const dbCheck: Run<typeof spec.dbCheck> = async (context: CommandContext, { full }) => {
  const { terminal, session } = context;
  terminal.phase('Checking the database');
  const found = await (await session.databaseDesk()).check(full === true);
  const checks = found.map((one) => ({
    ...one,
    status: one.found.length === 0 ? ('ok' as const) : ('failed' as const),
  }));
  const isOk = checks.every(({ status }) => status === 'ok');
  terminal.result({ status: isOk ? 'ok' : 'failed', checks }, checkView);
  return isOk ? 0 : 8;
};

const checkView: View<Checked> = {
  list: 'checks',
  lines: ({ checks }, { paint }) =>
    checks.flatMap(({ id, status, found }) => {
      const [sound = id, wrong = id] = CHECKS[id] ?? [];
      return status === 'ok' ? [`${paint.good('✓')} ${sound}`] : [`${paint.bad('✗')} ${wrong}: ${found.join(', ')}`];
    }),
  rows: ({ checks }) => checks.map(({ id, status, found }) => [id, status, found.join(' ')]),
};

export const dbBackup: Run<typeof spec.dbBackup> = async (context, { file, passphraseFile }) => {
  const { terminal, session, globals } = context;
  if (globals.dryRun) return printPlan(terminal, [`Copy the databases of ${session.home} to ${file}.`]);
  const passphrase = passphraseIn(passphraseFile);
  const names = await (await session.databaseDesk()).backUp(file, passphrase);
  terminal.result(copiedOf(file, names, passphrase), copiedView('Copied'));
  if (passphrase === null) terminal.aside(['', `Keys are not in it: copy ${session.home}/keys and wallet.json apart.`]);
  return 0;
};

export const dbRestore: Run<typeof spec.dbRestore> = async (context, { file, passphraseFile }) => {
  const { terminal, session, globals } = context;
  if (globals.dryRun) return printPlan(terminal, [`Put ${file} into ${session.home}, if it is empty.`]);
  const passphrase = passphraseIn(passphraseFile);
  const names = await (await session.databaseDesk()).restore(file, passphrase);
  terminal.result(copiedOf(file, names, passphrase), copiedView('Restored'));
  terminal.aside(['', ...nextLines('farelock db check', 'farelock db reconcile')]);
  return 0;
};

const MOST_PASSPHRASE_BYTES = 4096;

/** @throws Problem `file_unreadable`, `usage` */
function passphraseIn(file: string | undefined): string | null {
  if (file === undefined) return null;
  let bytes: Buffer | null;
  try {
    bytes = readBounded(file, { mostBytes: MOST_PASSPHRASE_BYTES });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw problem('file_unreadable', { message: `${file} cannot be read (${code ?? 'unknown'}).` });
  }
  const text = bytes?.toString('utf8').trim();
  if (text) return text;
  throw problem('usage', { message: `${file} holds no passphrase.`, fix: 'Write it on one line.' });
}

const copiedOf = (file: string, names: readonly string[], passphrase: string | null) => ({
  ...{ file, encrypted: passphrase !== null },
  files: names.map((name) => ({ name })),
});

const copiedView = (done: string): View<DocumentOf<typeof result.dbBackup>> => ({
  list: 'files',
  lines: ({ file, files }, { paint }) => [
    `${paint.good('✓')} ${done} ${file}`,
    ...fieldLines(paint.dim, { Files: files.map(({ name }) => name).join(', ') }),
  ],
  rows: ({ files }) => files.map(({ name }) => [name]),
});
