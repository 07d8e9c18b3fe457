import { textWidth } from './text.ts';

/** Shows text a screen at a time; over when the person has seen enough. */
export type Pager = (text: string) => Promise<void>;

/**
 * The command line of the pager: FARELOCK_PAGER, then PAGER, then less. null: none is wanted (empty or `cat`, a
 * terminal that can't move its cursor).
 */
export function pagerCommand(environment: Readonly<Record<string, string | undefined>>): string | null {
  if (environment.TERM === 'dumb') return null;
  const command = (environment.FARELOCK_PAGER ?? environment.PAGER ?? 'less').trim();
  return command === '' || command === 'cat' ? null : command;
}

/** True when text takes more lines than a terminal has, which also shows the prompt. */
export function isLong(text: string, rows: number, columns: number): boolean {
  let taken = 0;
  for (const line of text.split('\n').slice(0, -1)) {
    taken += Math.max(1, Math.ceil(textWidth(line) / columns));
    if (taken >= rows) return true;
  }
  return false;
}
