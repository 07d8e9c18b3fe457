import { shownUrl } from './shown-url.ts';

export const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A next step: a command of this tool, or another shell line. */
export type NextStep = { readonly argv: readonly string[] } | { readonly shell: string };

/** Builds a command; a text becomes one word, a list several. */
export const farelock = (
  texts: readonly string[],
  ...values: readonly (string | readonly string[])[]
): { readonly argv: readonly string[] } => ({
  argv: texts.flatMap((text, index) => [...text.split(' ').filter(Boolean), ...[values[index] ?? []].flat()]),
});

export const shell = (texts: readonly string[], ...values: readonly string[]): NextStep => ({
  shell: texts.map((text, index) => `${text}${index < values.length ? quoted(values[index] ?? '') : ''}`).join(''),
});

const PLACE = /^<[a-z-]+>$/;

/** Writes a step as a command line, without the keys in addresses. */
export const lineOf = (step: NextStep): string =>
  'shell' in step ? step.shell : ['farelock', ...step.argv.map(wordWithoutKeys)].join(' ');

function wordWithoutKeys(word: string): string {
  if (PLACE.test(word) || word.includes('…')) return word;
  const [, option = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(word) ?? [];
  const shown = shownUrl(value);
  return shown === value ? quoted(word) : `${option}${shown}`;
}
