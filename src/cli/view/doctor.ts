import type { Screen } from '../../terminal/terminal.ts';
import { padEnd, wrap } from '../../terminal/text.ts';
import type { Examined } from '../doctor/checks.ts';

export interface DoctorReport {
  readonly status: Examined['status'];
  readonly home: string;
  readonly profile: string | null;
  readonly checks: readonly Examined[];
}

const LABEL_CELLS = 18;

/** `✓ node  …`, with what to do under each that is not well. */
export function doctorLines({ checks }: DoctorReport, { paint, width }: Screen): string[] {
  const marks = { ok: paint.good('✓'), warning: paint.warn('!'), failed: paint.bad('✗') };
  return checks.flatMap(({ id, status, message, fix, next }) => {
    const [first = '', ...more] = wrap(message, width - LABEL_CELLS - 2);
    const under = ' '.repeat(LABEL_CELLS + 2);
    return [
      `${marks[status]} ${paint.dim(padEnd(id.replaceAll('_', ' '), LABEL_CELLS))}${first}`,
      ...more.map((line) => `${under}${line}`),
      ...(fix === null ? [] : wrap(fix, width - LABEL_CELLS - 2).map((line) => paint.dim(`${under}${line}`))),
      // A command is one piece, to be copied.
      ...next.map((command) => paint.accent(`  $ ${command}`)),
    ];
  });
}
