import type { Paint } from '../../../terminal/paint.ts';
import { tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import { counted, cut } from '../../../terminal/text.ts';
import { type PlannedRow, planSummary } from '../../apply/plan.ts';
import type { RowResult } from '../../apply/results.ts';
import type { RowIssue } from '../../apply/rows.ts';

const MOST_ROWS = 20;

interface ShownPlan {
  readonly dry_run: true;
  readonly file: string;
  /** Rows of the file, and how many of them ended in an earlier run. */
  readonly rows: number;
  readonly done: number;
  readonly plan: readonly PlannedRow[];
}

/** The moves of a plan: each row of a short one, the sums of a long one, and always what will be refused. */
export function planLines(plan: readonly PlannedRow[], { paint }: Screen): string[] {
  if (plan.length === 0) return ['Nothing is left to do.'];
  const wrong = plan.filter(({ kind }) => kind === 'refuse' || kind === 'hold');
  const shown = wrong.slice(0, MOST_ROWS);
  return [
    ...(plan.length <= MOST_ROWS ? rowLines(plan, paint) : sumLines(plan, paint)),
    ...(wrong.length === 0 ? [] : ['', paint.bad(`${counted(wrong.length, 'row')} will not go through:`)]),
    ...shown.map((row) => `  row ${row.row} (line ${row.line}) ${row.orderId}: ${row.why}`),
    ...(wrong.length > shown.length ? [`  and ${wrong.length - shown.length} more`] : []),
  ];
}

const moveText = ({ kind, from, to }: Pick<PlannedRow, 'kind' | 'from' | 'to'>, paint: Paint): string => {
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

const rowLines = (plan: readonly PlannedRow[], paint: Paint): string[] =>
  tableLines(
    [{ title: 'Row', align: 'right' }, { title: 'Order' }, { title: 'Move' }],
    plan.map((row) => [String(row.row), row.orderId, moveText(row, paint)]),
    paint.dim,
  );

const sumLines = (plan: readonly PlannedRow[], paint: Paint): string[] =>
  tableLines(
    [{ title: 'Rows', align: 'right' }, { title: 'Move' }],
    planSummary(plan).map((sum) => [String(sum.rows), moveText(sum, paint)]),
    paint.dim,
  );

/** The view of --dry-run. */
export const planView: View<ShownPlan> = {
  list: 'plan',
  lines: ({ plan, rows, done, file }, screen) => [
    screen.paint.bold(
      `Nothing was sent. ${file} has ${counted(rows, 'row')}${done > 0 ? `, ${done} done before` : ''}:`,
    ),
    ...planLines(plan, screen),
  ],
  rows: ({ plan }) =>
    plan.map((row) => [row.row, row.line, row.orderId, row.kind, row.from, row.to, row.why]),
};

export interface ShownApply {
  readonly file: string;
  readonly rows: number;
  readonly applied: number;
  readonly refused: number;
  readonly held: number;
  readonly resultsFile: string;
  /** The rows that were refused or held. */
  readonly failures: readonly Pick<RowResult, 'row' | 'line' | 'orderId' | 'outcome' | 'error'>[];
}

/** The outcome of a whole file. */
export const applyView: View<ShownApply> = {
  lines({ rows, applied, refused, held, resultsFile, failures }, { paint }) {
    const all = refused + held === 0;
    const shown = failures.slice(0, MOST_ROWS);
    return [
      all
        ? `${paint.good('✓')} ${counted(rows, 'row')} applied`
        : `${paint.bad('✗')} ${applied} of ${counted(rows, 'row')} applied, ${refused} refused${held > 0 ? `, ${held} held back` : ''}`,
      ...shown.map(
        (row) => `  row ${row.row} (line ${row.line}) ${row.orderId}: ${row.error?.message ?? row.outcome}`,
      ),
      ...(failures.length > shown.length ? [`  and ${failures.length - shown.length} more`] : []),
      `${paint.dim('Results')}  ${resultsFile}`,
    ];
  },
};

/** Where a wrong row stands and what is there: `row 3 (line 4, column 2) status "DONE"`. */
export function issuePath({ row, line, column, field, value }: RowIssue): string {
  const place = column ? `line ${line}, column ${column}` : `line ${line}`;
  return [
    row !== null ? `row ${row} (${place})` : line === null ? '' : place,
    field ?? '',
    value != null && value !== field ? `"${cut(value, 60)}"` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
