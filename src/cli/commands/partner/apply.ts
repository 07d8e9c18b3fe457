import { existsSync } from 'node:fs';
import type { OrderStanding } from '../../../kernel/domain/order-moves.ts';
import { isProblem, type Problem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import {
  counted,
  cut,
  grouped,
  harmless,
  harmlessDocument,
  listLines,
  type Paint,
  type Screen,
  type View,
} from '../../../terminal/index.ts';
import {
  BYTE_ORDER_MARK,
  type CheckedRow,
  checkRows,
  correctedText,
  groupMistakes,
  type JournalPlace,
  openJournal,
  openRows,
  type PlannedRow,
  type Progress,
  planRows,
  planSummary,
  type ReadRows,
  type RowIssue,
  readProgress,
  readRows,
  refusedEarlier,
  runRows,
  standingOf,
  writeCorrected,
} from '../../apply/index.ts';
import { confirmLive, type PartnerAccess, readSource, sourceName, utf8Of } from '../../session/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { openProgress } from './progress.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type ApplyOptions = OptionsOf<typeof spec.partnerOrdersApply>;

const MOST_ROWS = 100_000;

/**
 * Updates orders from a file: checks every row, shows what will happen, and does it. Each row is applied once, however
 * often the command is started again. Exit 0 when every row was applied, 8 when some were not.
 */
export const ordersApply: Run<typeof spec.partnerOrdersApply> = async (context, options) => {
  const { terminal, session, globals } = context;
  const { rows, digest } = await checkedFile(context, options);
  const access = await session.partner(options);
  const resultsFile = options.results ?? resultsFileOf(options.file, digest);
  const place: JournalPlace = { resultsFile, digest, environment: await access.environment() };
  const before = readProgress(place);
  const retryFailed = options.retryFailed === true;
  const open = openRows(rows, before, retryFailed);
  await session.work();
  const orders = await currentOrders(context, access, open, options.concurrency).catch((error: unknown) => {
    throw context.signal.aborted ? unsent(options, context.signal.reason) : error;
  });
  const plan = planRows(open, orders, {
    sent: new Set(before.sent.keys()),
    refused: refusedEarlier(rows, before, retryFailed),
  });
  if (globals.dryRun) {
    const [file, done] = [sourceName(options.file), rows.length - open.length];
    terminal.result({ dry_run: true, file, rows: rows.length, plan, done }, planView);
    return plan.some(({ kind }) => kind === 'refuse' || kind === 'hold') ? 8 : 0;
  }
  sayPlan(context, options.file, rows, plan);
  if (open.length > 0) {
    await confirmLive(context, access, options.live === true, `Send ${counted(open.length, 'row')}?`);
    context.signal.throwIfAborted();
    await run(context, options, access, place, rows, orders);
  }
  return sayResults(context, options.file, place, rows.length);
};

async function checkedFile(
  context: CommandContext,
  options: ApplyOptions,
): Promise<{ rows: CheckedRow[]; digest: string }> {
  const { file } = options;
  const { sha256Hex } = await import('../../../kernel/json.ts');
  const bytes = await readSource(context, file);
  const mark = bytes.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK : '';
  const text = `${mark}${utf8Of(bytes, file)}`;
  const read = await readRows(text);
  const { checked, issues: wrong } = checkRows(read.rows);
  const all = [...read.issues, ...wrong].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const digest = sha256Hex(bytes);
  if (all.length > 0) throw mistakes(context, options, digest, text, read, all);
  if (checked.length > MOST_ROWS) {
    throw problem('apply_invalid', {
      message: `${sourceName(file)} has ${checked.length} rows.`,
      fix: `Split it: one file has at most ${MOST_ROWS} rows.`,
    });
  }
  return { rows: checked, digest };
}

/** The first mistakes of each kind, and where the corrected file is. */
function mistakes(
  { globals: { dryRun } }: CommandContext,
  options: ApplyOptions,
  digest: string,
  text: string,
  read: ReadRows,
  all: readonly RowIssue[],
): Problem {
  const { results, ...rest } = options;
  const { file } = rest;
  const { groups, firsts, moreGroups, moreMistakes } = groupMistakes(all);
  const corrected = correctedText(text, read, all);
  const isUseful = corrected !== null && (corrected.corrected > 0 || firsts.length < all.length);
  const given =
    file === '-' ? `farelock-apply-${digest.slice(0, 12)}${read.form?.delimiter ? '.csv' : '.ndjson'}` : file;
  const path = isUseful && !dryRun ? written(given, corrected.text) : null;
  const resultsFile = results ?? resultsFileOf(file, digest);
  const earlier =
    path?.file && existsSync(resultsFile)
      ? `Take out the rows that were applied already: ${resultsFile} has those of an earlier version.`
      : '';
  const ids = new Map(read.rows.map(({ row, values }) => [row, values.get('orderId') ?? null]));
  return problem('apply_invalid', {
    message: `${sourceName(file)} has ${counted(all.length, 'mistake')}.`,
    ...(isUseful && { fix: `${correctedWords(path, corrected)}${earlier && ` ${earlier}`}` }),
    ...(path?.file && !earlier && { next: [againCommand({ ...rest, file: path.file })] }),
    detail: {
      mistakes: all.length,
      groups: groups.map((group) => ({ path: subjectOf(group), ...group })),
      more_groups: moreGroups,
      more_mistakes: moreMistakes,
      issues: firsts.map((issue) => ({
        path: issuePath(issue),
        ...issue,
        order_id: issue.row === null ? null : (ids.get(issue.row) ?? null),
      })),
      corrected_file: path?.file ?? null,
      corrected: corrected?.corrected ?? 0,
    },
  });
}

/** Writes the corrected file. Returns its path, or the reason why it could not be written. */
function written(file: string, text: string): { readonly file: string | null; readonly why: string } {
  try {
    return { file: writeCorrected(file, text), why: '' };
  } catch (error) {
    return { file: null, why: error instanceof Error ? error.message : String(error) };
  }
}

/** Says what is in the corrected file, and what is left to do. @param path null under --dry-run */
function correctedWords(
  path: ReturnType<typeof written> | null,
  { corrected, left, isMarked }: NonNullable<ReturnType<typeof correctedText>>,
): string {
  const many = counted(corrected, 'mistake');
  if (path === null) {
    const what = corrected > 0 ? `with ${many} corrected` : 'that says what is wrong with each row';
    return `Nothing was sent. Without --dry-run, a copy ${what} is written beside the file, and still nothing is sent.`;
  }
  if (path.file === null)
    return `Correct the listed rows; nothing was sent. No corrected copy was written: ${path.why}`;
  const copy = `${harmless(path.file)} is the whole file`;
  if (left === 0) return `${copy} with ${many} corrected. Nothing was sent. Check it, then apply it.`;
  const rest = isMarked ? '; "mistake" says what is still wrong' : '';
  return `${copy}${corrected > 0 ? ` with ${many} corrected` : ''}${rest}. Nothing was sent. Change what is left, then apply it.`;
}

/** Beside the file, or in the working folder for standard input. */
const resultsFileOf = (file: string, digest: string): string =>
  `${file === '-' ? `farelock-apply-${digest.slice(0, 12)}` : file}.results.ndjson`;

/** Up to so many are read in a moment: no progress is shown. */
const FEW_ORDERS = 100;

/** Reads the orders of the rows. Leaves out orders that the service does not know. */
async function currentOrders(
  context: CommandContext,
  { client }: PartnerAccess,
  rows: readonly CheckedRow[],
  concurrency: number,
): Promise<Map<string, OrderStanding>> {
  const ids = [...new Set(rows.map(({ update }) => update.orderId))];
  const orders = new Map<string, OrderStanding>();
  if (ids.length === 0) return orders;
  const { terminal, signal } = context;
  terminal.phase(`Reading ${counted(ids.length, 'order')}`);
  const progress =
    ids.length > FEW_ORDERS ? openProgress(context, { total: ids.length, before: 0, unit: 'order' }) : null;
  let next = 0;
  const reader = async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      signal.throwIfAborted();
      try {
        orders.set(id, standingOf(await client.orderWithHistory(id, { signal })));
      } catch (error) {
        if (!isProblem(error, 'order_not_found', 'not_found')) throw error;
      }
      progress?.step();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, ids.length) }, reader));
  } finally {
    progress?.end();
    terminal.settle();
  }
  return orders;
}

function sayPlan(
  { terminal }: CommandContext,
  file: string,
  rows: readonly CheckedRow[],
  plan: readonly PlannedRow[],
): void {
  const done = rows.length - plan.length;
  terminal.note(
    `${harmless(sourceName(file))}: ${counted(rows.length, 'row')}${done > 0 ? `, ${grouped(done)} done before` : ''}`,
  );
  if (plan.length > 0) for (const line of planLines(harmlessDocument(plan), terminal.asideScreen)) terminal.note(line);
}

async function run(
  context: CommandContext,
  options: ApplyOptions,
  { client }: PartnerAccess,
  place: JournalPlace,
  rows: readonly CheckedRow[],
  orders: ReadonlyMap<string, OrderStanding>,
): Promise<void> {
  const { clock, signal } = context;
  const retryFailed = options.retryFailed === true;
  const journal = await openJournal(place);
  try {
    const before = rows.length - openRows(rows, journal, retryFailed).length;
    const progress = openProgress(context, { total: rows.length, before, unit: 'row' });
    const statuses = new Map([...orders].map(([id, { status }]) => [id, status]));
    try {
      const { stopped } = await runRows(
        { rows, digest: place.digest, concurrency: options.concurrency, statuses, retryFailed },
        {
          journal,
          clock,
          signal,
          onRow: ({ outcome }) => progress.step(outcome !== 'applied'),
          update: async (update, idempotencyKey, callSignal) =>
            (await client.updateOrder(update, { idempotencyKey, signal: callSignal })).order.status,
        },
      );
      const left = openRows(rows, readProgress(place), false).length;
      if (left > 0) throw cutOff(context, options, place, rows.length, left, stopped);
    } finally {
      progress.end();
    }
    await journal.finish();
  } finally {
    await journal.close();
  }
}

/** Counts the finished rows and names the command to continue, after Ctrl-C, --timeout or an outage of the service. */
function cutOff(
  { signal }: CommandContext,
  options: ApplyOptions,
  place: JournalPlace,
  total: number,
  left: number,
  stopped: Problem | null,
): Problem {
  const reason: unknown = signal.aborted ? signal.reason : stopped;
  const code = isProblem(reason) ? reason.code : 'interrupted';
  const { applied, failures } = sums(readProgress(place));
  const why = code === 'interrupted' ? 'Interrupted.' : isProblem(reason) ? reason.message : '';
  const failed = failures.length > 0 ? `, ${failures.length} refused` : '';
  return problem(code, {
    message: `${why} ${applied} of ${counted(total, 'row')} applied${failed}; ${left} left.`,
    fix: 'Run the same command again: it continues where it stopped, and repeats no row.',
    next: [againCommand(options)],
    detail: { rows: total, applied, failed: failures.length, left, results_file: place.resultsFile },
    cause: stopped ?? undefined,
  });
}

/** Says that no row was sent: the reading of the orders was cut off. */
function unsent(options: ApplyOptions, reason: unknown): unknown {
  if (!isProblem(reason)) return reason;
  return problem(reason.code, {
    message: `${reason.message} No row was sent.`,
    fix: 'Run the same command again.',
    next: [againCommand(options)],
    cause: reason,
  });
}

const againCommand = ({ file, results, retryFailed, live, partner }: ApplyOptions) =>
  farelock`partner orders apply ${file} ${[
    ...(results === undefined ? [] : ['--results', results]),
    ...(partner === undefined ? [] : ['--partner', partner]),
    ...(retryFailed ? ['--retry-failed'] : []),
    ...(live ? ['--live'] : []),
  ]}`;

function sums({ results }: Progress) {
  const all = [...results.values()].sort((a, b) => a.row - b.row);
  const failures = all.flatMap(({ row, line, orderId, outcome, error }) =>
    outcome === 'applied' ? [] : [{ row, line, orderId, outcome, error }],
  );
  return { applied: all.length - failures.length, failures };
}

function sayResults({ terminal }: CommandContext, file: string, place: JournalPlace, rows: number): 0 | 8 {
  const { applied, failures } = sums(readProgress(place));
  const refused = failures.filter(({ outcome }) => outcome === 'refused').length;
  terminal.result(
    {
      file: sourceName(file),
      rows,
      applied,
      refused,
      held: failures.length - refused,
      resultsFile: place.resultsFile,
      failures,
    },
    applyView,
  );
  if (failures.length > 0) {
    terminal.aside(['', 'Send refused rows again with --retry-failed, or put corrected rows into a new file.']);
  }
  return failures.length > 0 ? 8 : 0;
}

const MOST_SHOWN_ROWS = 20;

/** Shows each row of a short plan or the sums of a long one, and always the refusals. */
function planLines(plan: readonly PlannedRow[], { paint }: Screen): string[] {
  if (plan.length === 0) return ['Nothing is left to do.'];
  const wrong = plan.filter(({ kind }) => kind === 'refuse' || kind === 'hold');
  return [
    ...(plan.length <= MOST_SHOWN_ROWS
      ? listLines({ paint }, plan, [
          { title: 'Row', align: 'right', cell: ({ row }) => String(row) },
          { title: 'Order', cell: ({ orderId }) => orderId },
          { title: 'Move', cell: (row) => moveText(row, paint) },
        ])
      : listLines({ paint }, planSummary(plan), [
          { title: 'Rows', align: 'right', cell: ({ rows }) => String(rows) },
          { title: 'Move', cell: (sum) => moveText(sum, paint) },
        ])),
    ...(wrong.length === 0 ? [] : ['', paint.bad(`${counted(wrong.length, 'row')} will not go through:`)]),
    ...wrongLines(wrong, ({ why }) => why),
  ];
}

const wrongLines = <Row extends Pick<PlannedRow, 'row' | 'line' | 'orderId'>>(
  wrong: readonly Row[],
  whyOf: (row: Row) => string | null,
): string[] => [
  ...wrong.slice(0, MOST_SHOWN_ROWS).map((one) => `  row ${one.row} (line ${one.line}) ${one.orderId}: ${whyOf(one)}`),
  ...(wrong.length > MOST_SHOWN_ROWS ? [`  and ${wrong.length - MOST_SHOWN_ROWS} more`] : []),
];

type Move = Pick<PlannedRow, 'kind' | 'from' | 'to'>;

const moveText = ({ kind, from, to }: Move, paint: Paint): string => {
  switch (kind) {
    case 'move':
      return `${from} → ${to}`;
    case 'patch':
      return `${from}, other fields`;
    case 'repeat':
      return `${from}, as it is`;
    case 'settle':
      return `${to}, sent before: its answer is fetched`;
    case 'refuse':
      return paint.bad(from === null ? 'not known' : `${from}, refused`);
    case 'hold':
      return paint.bad(`${from}, held back`);
  }
};

const planView: View<{ file: string; rows: number; plan: readonly PlannedRow[]; done: number }> = {
  list: 'plan',
  lines: ({ plan, rows, done, file }, screen) => [
    screen.paint.bold(
      `Nothing was sent. ${file} has ${counted(rows, 'row')}${done > 0 ? `, ${grouped(done)} done before` : ''}:`,
    ),
    ...planLines(plan, screen),
  ],
  rows: ({ plan }) => plan.map((row) => [row.row, row.line, row.orderId, row.kind, row.from, row.to, row.why]),
};

const applyView: View<DocumentOf<typeof result.partnerOrdersApply>> = {
  lines: ({ rows, applied, refused, held, resultsFile, failures }, { paint }) => [
    refused + held === 0
      ? `${paint.good('✓')} ${counted(rows, 'row')} applied`
      : `${paint.bad('✗')} ${applied} of ${counted(rows, 'row')} applied, ${refused} refused${held > 0 ? `, ${held} held back` : ''}`,
    ...wrongLines(failures, ({ error, outcome }) => error?.message ?? outcome),
    `${paint.dim('Results')}  ${resultsFile}`,
  ],
};

/** The place and the value of a mistake: `row 3 (line 4, column 2) status "DONE"`. */
function issuePath(issue: RowIssue): string {
  const { row, line, column } = issue;
  const place = column ? `line ${line}, column ${column}` : `line ${line}`;
  return [row !== null ? `row ${row} (${place})` : line === null ? '' : place, subjectOf(issue)]
    .filter(Boolean)
    .join(' ');
}

/** `status "DONE"` */
const subjectOf = ({ field, value }: Pick<RowIssue, 'field' | 'value'>): string =>
  [field ?? '', value != null && value !== field ? `"${cut(value, 60)}"` : ''].filter(Boolean).join(' ');
