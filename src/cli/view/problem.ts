import type { Problem } from '../../kernel/problems.ts';
import type { Screen } from '../screen/terminal.ts';
import { harmless, wrap } from './text.ts';

/** `{ error: … }` for --json (CONTRACT, section 15). */
export const problemDocument = (error: Problem, next: readonly string[] = error.next) => ({
  error: {
    code: error.code,
    message: error.message,
    fix: error.fix,
    retryable: error.kind.retryable === true,
    next: [...next],
    ...(error.detail ? { detail: error.detail } : {}),
  },
});

/**
 * A problem for a person: what failed, why, what to do. Where several fields are wrong, each has a line between
 * the first and the last.
 */
export function problemLines(
  error: Problem,
  { paint, width }: Screen,
  /** Commands that help beside the problem's own; shown where a person has not yet enough to read. */
  suggested: readonly string[] = [],
): string[] {
  const [first = '', ...more] = wrap(harmless(error.message), width - 2);
  const why = issuesOf(error).flatMap((issue) =>
    typeof issue === 'string'
      ? wrap(harmless(issue), width - 4).map((line, index) =>
          paint.dim(`${index === 0 ? '  ' : '    '}${line}`),
        )
      : [`    ${paint.good('→')} ${harmless(issue.corrected)}`],
  );
  const facts = why.length === 0 ? factsOf(error) : [];
  const fix = wrap(harmless(error.fix), width - 2);
  const said = 1 + more.length + why.length + facts.length + fix.length;
  const commands = error.next.length > 0 ? error.next : suggested.slice(0, said < 3 ? 1 : 0);
  const next = commands.map((command) => `  $ ${harmless(command)}`);
  return [
    `${paint.bad('✗')} ${paint.bold(first)}`,
    ...more.map((line) => `  ${paint.bold(line)}`),
    ...why,
    ...facts.map((fact) => paint.dim(`  ${harmless(fact)}`)),
    ...fix.map((line) => `  ${line}`),
    ...next.map((line) => paint.accent(line)),
  ];
}

/** What is wrong, each in a sentence; after the last mistake of a line, the line as it should be, never broken. */
function issuesOf(error: Problem): (string | { readonly corrected: string })[] {
  const issues = error.detail?.issues;
  if (!Array.isArray(issues)) return [];
  return issues.flatMap((issue: unknown, index) => {
    if (typeof issue !== 'object' || issue === null) return [];
    const { path, message, corrected, line } = issue as Record<string, unknown>;
    const next = issues[index + 1] as { line?: unknown } | undefined;
    const isLast = line === undefined || next?.line !== line;
    return [
      ...(typeof message === 'string' ? [`${sayPath(path)}${message}`] : []),
      ...(typeof corrected === 'string' && isLast ? [{ corrected }] : []),
    ];
  });
}

/** `passengers.1.born_on` reads as `passenger 2, born_on`. */
function sayPath(path: unknown): string {
  const text = Array.isArray(path) ? path.join('.') : typeof path === 'string' ? path : '';
  const said = text.replace(
    /^passengers\.(\d+)\.?/,
    (_match, index: string) => `passenger ${Number(index) + 1}${text.split('.').length > 2 ? ', ' : ''}`,
  );
  return said ? `${said} ` : '';
}

/** The plain values of a detail on one line: the expected and the current price, an existing id. */
function factsOf(error: Problem): string[] {
  // Only what the message does not say already.
  const facts = Object.entries(error.detail ?? {}).filter(
    ([name, value]) =>
      (typeof value === 'number' || (typeof value === 'string' && value.length <= 60)) &&
      !['money', 'signal'].includes(name) &&
      !error.message.includes(String(value)) &&
      !error.next.some((command) => command.includes(String(value))),
  );
  if (facts.length === 0) return [];
  return [facts.map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value)}`).join(', ')];
}
