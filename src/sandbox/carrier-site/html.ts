/** HTML that is safe to put into a page. */
export class Markup {
  constructor(readonly text: string) {}
}

type Shown = string | number | Markup | null | false | readonly (Markup | null | false)[];

/** Markup with values put in: text is escaped, markup is not; null and false are nothing. */
export const html = (parts: TemplateStringsArray, ...values: readonly Shown[]): Markup =>
  new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1] ?? null) + part));

function textOf(value: Shown): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return value.map(textOf).join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => ENTITIES[letter] ?? '');
