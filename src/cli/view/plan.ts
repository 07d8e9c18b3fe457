import { type Terminal, wrap } from '../../terminal/index.ts';

const INDENT = 5;

const numbered = (number: number, [first = '', ...more]: readonly string[]): string[] => [
  `  ${number}. ${first}`,
  ...more.map((line) => `${' '.repeat(INDENT)}${line}`),
];

/** The steps of a plan, numbered, in lines that fit. */
export const stepLines = (steps: readonly string[], width: number): string[] =>
  steps.flatMap((step, index) => numbered(index + 1, wrap(step, width - INDENT)));

/** The view of --dry-run: the steps that the real run would take, with nothing done. */
export function printPlan(terminal: Terminal, steps: readonly string[], facts: Record<string, unknown> = {}): void {
  terminal.result(
    { dry_run: true, plan: [...steps], ...facts },
    { lines: ({ plan }, { paint, width }) => [paint.bold('Nothing was done. It would:'), ...stepLines(plan, width)] },
  );
}
