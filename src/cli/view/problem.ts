import type { Problem } from '../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../kernel/shell-word.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { capital, counted, cut, grouped, harmless, type Screen, utcTime, wrap } from '../../terminal/index.ts';

/** `{ error: … }` for --json (CONTRACT, section 15). */
export const problemDocument = (error: Problem, next: readonly NextStep[] = error.next) => ({
  error: {
    code: error.code,
    message: error.message,
    fix: error.fix,
    retryable: error.kind.retryable === true,
    next: next.map(lineOf),
    ...(error.detail ? { detail: error.detail } : {}),
  },
});

/** Names a field of a service as the command line does, with the given value; null without such a name. */
export type TypedNames = (field: string) => { readonly name: string; readonly value: string | null } | null;

/**
 * Words a problem for a person: what failed, why, what to do, and the command that does it. If several fields are
 * wrong, each has a line between the first and the last.
 */
export function problemLines(
  error: Problem,
  { paint, width }: Screen,
  /** Commands that help, for a problem that names none. */
  suggested: readonly NextStep[] = [],
  typed: TypedNames = () => null,
): string[] {
  const issues = issuesOf(error, typed);
  const said = error.said(paint.usdc);
  const [only] = error.code === 'invalid_request' && issues.length === 1 ? issues : [];
  const isSaid = typeof only === 'string';
  // The second sentence of an issue says what to do.
  const [, fault, remedy] = /^(.*?[.?!]) (\p{Lu}.*)$/su.exec(isSaid ? only : '') ?? [];
  const [first = '', ...more] = wrap(harmless(isSaid ? sentence(fault ?? only) : said.message), width - 2);
  const why = (isSaid ? [] : issues).flatMap((issue) =>
    typeof issue === 'string'
      ? wrap(harmless(issue), width - 4).map((line, index) => paint.dim(`${index === 0 ? '  ' : '    '}${line}`))
      : [
          `    ${[
            ...(issue.row === undefined ? [] : [paint.dim(harmless(issue.row))]),
            ...(issue.corrected === undefined ? [] : [`${paint.good('→')} ${harmless(issue.corrected)}`]),
          ].join(' ')}`,
        ],
  );
  const facts = issues.length === 0 ? factsOf(error, said.message, paint.usdc) : [];
  const fix = wrap(harmless(remedy ?? said.fix), width - 2);
  const steps = error.next.length > 0 ? error.next : suggested.slice(0, 1);
  const next = steps.map((step) => `  $ ${harmless(lineOf(step))}`);
  return [
    `${paint.bad('✗')} ${paint.bold(first)}`,
    ...more.map((line) => `  ${paint.bold(line)}`),
    ...why,
    ...facts.map((fact) => paint.dim(`  ${harmless(fact)}`)),
    ...fix.map((line) => `  ${line}`),
    ...next.map((line) => paint.accent(line)),
  ];
}

/** Capitalises a sentence, unless it begins with a name such as `toCurrency`. */
const sentence = (text: string): string => (/^[a-z]+[A-Z]/.test(text) ? text : capital(text));

/** A line under a mistake: a row of its group, or the corrected line. */
interface Under {
  readonly row?: string;
  readonly corrected?: string;
}

/**
 * Lists the mistakes: first those of many rows, by kind, then the others, each in a sentence. A corrected line follows
 * the last mistake of its line, and is never broken.
 */
function issuesOf({ detail }: Problem, typed: TypedNames): (string | Under)[] {
  const issues = recordsOf(detail?.issues);
  const groups = recordsOf(detail?.groups);
  const isGrouped = (issue: Detail) => Number(groups[Number(issue.group)]?.count) > 1;
  const single = issues.filter((issue) => !isGrouped(issue));
  return [
    ...groups.flatMap((group, index) =>
      Number(group.count) > 1
        ? groupLines(
            group,
            issues.filter((issue) => issue.group === index),
          )
        : [],
    ),
    ...single.flatMap((issue, index) => {
      const { path, message, corrected, line } = issue;
      const isLast = line === undefined || single[index + 1]?.line !== line;
      const said =
        typeof message === 'string'
          ? message.replace(/\b[a-z]+(_[a-z]+)+\b/g, (field) => typed(field)?.name ?? field)
          : null;
      return [
        ...(said === null ? [] : [`${sayPath(path, typed)}${said}`]),
        ...(typeof corrected === 'string' && isLast ? [{ corrected }] : []),
      ];
    }),
    ...(Number(detail?.more_mistakes) > 0
      ? [
          `and ${counted(Number(detail?.more_mistakes), 'mistake')} of ${counted(Number(detail?.more_groups), 'other kind')}`,
        ]
      : []),
  ];
}

type Detail = Readonly<Record<string, unknown>>;

const recordsOf = (list: unknown): Detail[] =>
  Array.isArray(list) ? list.filter((one): one is Detail => typeof one === 'object' && one !== null) : [];

/** `5,000 rows: status "PROCESED" is not …`, the first rows, and how many more there are. */
function groupLines({ count, path, message, value, more }: Detail, firsts: readonly Detail[]): (string | Under)[] {
  const rows = firsts.map(({ row, line, column, order_id: id, value: given, corrected }): Under => {
    const place = `row ${row} (line ${line}${column ? `, column ${column}` : ''})`;
    if (typeof corrected === 'string') return { row: place, corrected };
    const values = [id, value === null && given !== id ? given : null].filter(Boolean);
    return { row: [place, ...values.map((one) => cut(String(one), 60))].join(' ') };
  });
  const rest: Under[] = Number(more) > 0 ? [{ row: `and ${grouped(Number(more))} more` }] : [];
  return [`${counted(Number(count), 'row')}: ${path ? `${path} ` : ''}${message}`, ...rows, ...rest];
}

/** `passengers.1.born_on` reads as `passenger 2, born_on`, and `max_price` as `--max-price 5`. */
function sayPath(path: unknown, typed: TypedNames): string {
  const text = Array.isArray(path) ? path.join('.') : typeof path === 'string' ? path : '';
  const given = typed(text);
  if (given) return `${given.name} ${given.value === null ? '' : `${given.value} `}`;
  const said = text.replace(
    /^passengers\.(\d+)\.?/,
    (_match, index: string) => `passenger ${Number(index) + 1}${text.split('.').length > 2 ? ', ' : ''}`,
  );
  return said ? `${said} ` : '';
}

/** The plain values of a detail on one line, such as the expected and the current price. */
function factsOf(error: Problem, message: string, usdc: Usdc): string[] {
  const facts = Object.entries(error.detail ?? {}).flatMap(([name, value]): [string, string][] =>
    (typeof value === 'number' || (typeof value === 'string' && value.length <= 60)) &&
    !['money', 'signal'].includes(name)
      ? [[name, sayFact(name, String(value), usdc)]]
      : [],
  );
  // Only facts that the message does not say already.
  const unsaid = facts.filter(
    ([, value]) => !message.includes(value) && !error.next.some((step) => lineOf(step).includes(value)),
  );
  return unsaid.length === 0
    ? []
    : [unsaid.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join(', ')];
}

/** Words a fact: the services send atomic amounts, and times for programs. */
function sayFact(name: string, value: string, usdc: Usdc): string {
  if (/(^|_)amount$/.test(name) && /^\d+$/.test(value)) return usdc(BigInt(value));
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? utcTime(value) : value;
}
