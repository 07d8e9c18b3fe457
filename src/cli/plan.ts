import type { Terminal } from './terminal.ts';

/** What --dry-run prints: the steps that the real run would take, and nothing done. */
export function printPlan(
  terminal: Terminal,
  steps: readonly string[],
  facts: Record<string, unknown> = {},
): void {
  terminal.result(
    { dry_run: true, plan: [...steps], ...facts },
    {
      lines: ({ plan }, { paint }) => [
        paint.bold('Nothing was done. It would:'),
        ...plan.map((step, index) => `  ${index + 1}. ${step}`),
      ],
    },
  );
}
