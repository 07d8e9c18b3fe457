import type { RowIssue } from './read.ts';

const MOST_GROUPS = 10;
const MOST_SHOWN = 10;

/** A mistake with more values than these is one group, not a group for each value. */
const MOST_VALUES = 5;

export interface MistakeGroup {
  readonly count: number;
  readonly field: string | null;
  /** Null if the rows have different values, or none. */
  readonly value: string | null;
  readonly message: string;
  /** The first rows of the group. */
  readonly rows: readonly (number | null)[];
  readonly more: number;
}

/**
 * Groups mistakes by field, message and value, the most frequent first. `firsts` has the first of each group, by line.
 */
export function groupMistakes(issues: readonly RowIssue[]) {
  const values = new Map<string, Set<string | null>>();
  for (const issue of issues) {
    const kind = kindOf(issue);
    values.set(kind, (values.get(kind) ?? new Set()).add(issue.value ?? null));
  }
  const groups = new Map<string, RowIssue[]>();
  for (const [index, issue] of issues.entries()) {
    const kind = kindOf(issue);
    const isMixed = (values.get(kind)?.size ?? 0) > MOST_VALUES;
    const key = JSON.stringify([kind, isMixed ? null : issue.value, issue.row === null ? index : null]);
    const group = groups.get(key);
    if (group) group.push(issue);
    else groups.set(key, [issue]);
  }
  const sorted = [...groups.values()].sort((a, b) => b.length - a.length);
  const [shown, hidden] = [sorted.slice(0, MOST_GROUPS), sorted.slice(MOST_GROUPS)];
  return {
    groups: shown.map(groupOf),
    firsts: shown
      .flatMap((group, index) => group.slice(0, MOST_SHOWN).map((issue) => ({ ...issue, group: index })))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    moreGroups: hidden.length,
    moreMistakes: hidden.reduce((sum, group) => sum + group.length, 0),
  };
}

/** The message for a whole group: every repeated row names another earlier row. */
const commonWords = (message: string): string => message.replace(/row \d+ \(line \d+\)/, 'an earlier row');

const kindOf = ({ field, message }: RowIssue): string => JSON.stringify([field, commonWords(message)]);

function groupOf(issues: readonly RowIssue[]): MistakeGroup {
  const [{ field, message, value = null } = { field: null, message: '' }] = issues;
  const rows = issues.slice(0, MOST_SHOWN).map(({ row }) => row);
  return {
    count: issues.length,
    field,
    value: issues.every((issue) => (issue.value ?? null) === value) ? value : null,
    message: issues.length > 1 ? commonWords(message) : message,
    rows,
    more: issues.length - rows.length,
  };
}
