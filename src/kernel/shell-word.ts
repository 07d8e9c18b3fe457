import { shownUrl } from './shown-url.ts';

/** An id or an argument as a shell takes it. */
export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A step to take next: a command of this tool, in its words, or another line for a shell. */
export type NextStep = { readonly argv: readonly string[] } | { readonly shell: string };

/** A command of this tool: each value is one word, each list of values as many. */
export const farelock = (
  texts: readonly string[],
  ...values: readonly (string | readonly string[])[]
): { readonly argv: readonly string[] } => ({
  argv: texts.flatMap((text, index) => [...text.split(' ').filter(Boolean), ...[values[index] ?? []].flat()]),
});

/** A line for a shell, with its values quoted. */
export const shell = (texts: readonly string[], ...values: readonly string[]): NextStep => ({
  shell: texts.map((text, index) => `${text}${index < values.length ? quoted(values[index] ?? '') : ''}`).join(''),
});

/** A word that a person fills in: `<from>`. */
const PLACE = /^<[a-z-]+>$/;

/** A step as it is typed; addresses without their keys. */
export const lineOf = (step: NextStep): string =>
  'shell' in step ? step.shell : ['farelock', ...step.argv.map(wordWithoutKeys)].join(' ');

function wordWithoutKeys(word: string): string {
  if (PLACE.test(word) || word.includes('…')) return word;
  const [, option = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(word) ?? [];
  const shown = shownUrl(value);
  return shown === value ? quoted(word) : `${option}${shown}`;
}
