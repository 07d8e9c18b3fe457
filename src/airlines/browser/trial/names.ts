import type { Frame } from 'playwright-core';
import type { Visit } from '../page/index.ts';

/** An element as assistive software, and a recipe, names it. */
export interface Named {
  readonly role: string;
  readonly name: string;
}

/** Roles of a form's fields, which are named by their labels. */
export const FIELD_ROLES: ReadonlySet<string> = new Set(
  'textbox combobox checkbox radio spinbutton searchbox listbox switch slider'.split(' '),
);

/** Names of buttons that may pay, in the languages of most sites. */
export const PAYS =
  /\b(pay|pay now|buy|purchase|place order|book now|confirm and pay|complete (booking|order|purchase|payment)|kaufen|bezahlen|zahlen|zahlungspflichtig|buchen|payer|acheter|pagar|paga|acquista|comprar|betalen|zapłać|betala)\b(?! details| method| with)/i;

export const mayPay = (name: string): boolean => PAYS.test(name);

const DRAW_MS = 3_000;

/** Names a frame in a recipe, by its title, name, id or address. */
export async function frameSelector(frame: Frame): Promise<string> {
  const element = await frame.frameElement();
  for (const attribute of ['title', 'name', 'id', 'src']) {
    const value = await element.getAttribute(attribute);
    if (value) return `iframe[${attribute}=${JSON.stringify(value)}]`;
  }
  return 'iframe';
}

/** The roles and names of a page and its frames: what a recipe can point at. Passwords and the account are left out. */
export async function namesOn({ page, account }: Pick<Visit, 'page' | 'account'>): Promise<string> {
  const shown: string[] = [];
  for (const frame of page.frames()) {
    try {
      const passwords = await frame
        .locator('input[type="password"]')
        .evaluateAll((fields) => fields.map((field) => ('value' in field ? String(field.value) : '')));
      const drawn = await frame.locator('body').ariaSnapshot({ timeout: DRAW_MS });
      const names = hidden(drawn, [...passwords, ...Object.values(account ?? {})]);
      shown.push(frame === page.mainFrame() ? names : `# in the frame ${await frameSelector(frame)}\n${names}`);
    } catch {
      // The frame is gone or hangs.
    }
  }
  return shown.join('\n');
}

export const hidden = (text: string, secrets: readonly string[]): string =>
  secrets.filter(Boolean).reduce((left, one) => left.replaceAll(one, '…'), text);

const LINE = /^\s*- '?([a-z]+)(?: ("(?:[^"\\]|\\.)*"))?(?:[^:]*)(?:: ?(.*))?$/;

/** Reads the lines of `namesOn`; texts have the role `text`. */
export const readNames = (names: string): Named[] =>
  names.split('\n').flatMap((line) => {
    const [, role = '', quoted, rest = ''] = LINE.exec(line.replaceAll("''", "'")) ?? [];
    if (role === '') return [];
    const name = quoted === undefined ? rest.replace(/^"(.*)"$/, '$1') : textIn(quoted);
    return name === '' ? [] : [{ role: quoted === undefined && role !== 'text' ? 'text' : role, name }];
  });

function textIn(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted.slice(1, -1);
  }
}

const pairsOf = (text: string): string[] => {
  const plain = ` ${text
    .toLowerCase()
    .replace(/\{[^}]*\}/g, ' ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;
  return plain.trim() === '' ? [] : Array.from({ length: plain.length - 1 }, (_, i) => plain.slice(i, i + 2));
};

/** Likeness of two texts by their pairs of letters, from 0 to 1. */
export function likeness(one: string, other: string): number {
  const [a, b] = [pairsOf(one), pairsOf(other)];
  if (a.length === 0 || b.length === 0) return 0;
  const left = [...b];
  let shared = 0;
  for (const pair of a) {
    const at = left.indexOf(pair);
    if (at < 0) continue;
    left.splice(at, 1);
    shared += 1;
  }
  return (2 * shared) / (a.length + b.length);
}
