import type { Problem } from '../../kernel/problems.ts';
import { lineOf, type NextStep } from '../../kernel/shell-word.ts';
import type { Usdc } from '../../kernel/usdc.ts';
import { capital, harmless, type Screen, utcTime, wrap } from '../../terminal/index.ts';

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

/** A field of a service in the words of the command line, with the given value; null for one without such words. */
export type TypedNames = (field: string) => { readonly name: string; readonly value: string | null } | null;

/**
 * A problem for a person: what failed, why, what to do, and the command that does it. Where several fields are wrong,
 * each has a line between the first and the last.
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
  // An issue's second sentence is what to do.
  const [, fault, remedy] = /^(.*?[.?!]) (\p{Lu}.*)$/su.exec(isSaid ? only : '') ?? [];
  const [first = '', ...more] = wrap(harmless(isSaid ? sentence(fault ?? only) : said.message), width - 2);
  const why = (isSaid ? [] : issues).flatMap((issue) =>
    typeof issue === 'string'
      ? wrap(harmless(issue), width - 4).map((line, index) => paint.dim(`${index === 0 ? '  ' : '    '}${line}`))
      : [`    ${paint.good('→')} ${harmless(issue.corrected)}`],
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

/** A name that begins small, such as `toCurrency`, stays as it is written. */
const sentence = (text: string): string => (/^[a-z]+[A-Z]/.test(text) ? text : capital(text));

/** The mistakes, each in a sentence; after the last one of a line, the corrected line, never broken. */
function issuesOf(error: Problem, typed: TypedNames): (string | { readonly corrected: string })[] {
  const issues = error.detail?.issues;
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: unknown, index) => {
    if (typeof issue !== 'object' || issue === null) return [];
    const { path, message, corrected, line } = issue as Record<string, unknown>;
    const next = issues[index + 1] as { line?: unknown } | undefined;
    const isLast = line === undefined || next?.line !== line;
    const said =
      typeof message === 'string'
        ? message.replace(/\b[a-z]+(_[a-z]+)+\b/g, (field) => typed(field)?.name ?? field)
        : null;
    return [
      ...(said === null ? [] : [`${sayPath(path, typed)}${said}`]),
      ...(typeof corrected === 'string' && isLast ? [{ corrected }] : []),
    ];
  });
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
  // Only what the message does not say already.
  const unsaid = facts.filter(
    ([, value]) => !message.includes(value) && !error.next.some((step) => lineOf(step).includes(value)),
  );
  return unsaid.length === 0
    ? []
    : [unsaid.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${value}`).join(', ')];
}

/** The services write amounts as atomic units, and moments for programs. */
function sayFact(name: string, value: string, usdc: Usdc): string {
  if (/(^|_)amount$/.test(name) && /^\d+$/.test(value)) return usdc(BigInt(value));
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? utcTime(value) : value;
}
