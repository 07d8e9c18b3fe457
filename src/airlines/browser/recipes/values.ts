import { nearest } from '../../../kernel/nearest.ts';
import { PLACE } from './steps.ts';

/** A text that the recipe does not allow for, or a missing value. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export type Values = Readonly<Record<string, string | undefined>>;

interface Site {
  readonly numbers: NumberFormat;
  readonly currency: string;
  readonly symbols?: Readonly<Record<string, string>> | undefined;
  readonly months?: readonly string[] | undefined;
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Longest first, so that `MM` is not two `M`. */
const TOKEN = /YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|A|dddd|ddd/g;

/** Tokens for the dates that we type, which have no time of day. */
export const WRITTEN_TOKENS = ['YYYY', 'YY', 'MMMM', 'MMM', 'MM', 'M', 'DD', 'D', 'dddd', 'ddd'];
export const READ_TOKENS = [...WRITTEN_TOKENS, 'HH', 'H', 'hh', 'h', 'mm', 'A'];

/** Tokens of other tools, which would be read as plain letters here. */
const FOREIGN: Readonly<Record<string, string>> = {
  ...{ yyyy: 'YYYY', yy: 'YY', YYY: 'YYYY', dd: 'DD', d: 'D', EEEE: 'dddd', EEE: 'ddd' },
  ...{ a: 'A', aa: 'A', AA: 'A', am: 'A', AM: 'A', PM: 'A', nn: 'mm', HHH: 'HH', SS: 'mm', ss: 'mm' },
};

/** Finds letters of a date format that are not tokens; null if there are none. Words between tokens are fine. */
export function dateFault(
  format: string,
  tokens: readonly string[],
): { message: string; nearest: string | null } | null {
  const unknown = (run: string, near: string | null) => ({
    message: `"${run}" is ${near === null ? `none of ${tokens.join(' ')}` : 'no part of a date'}`,
    nearest: near,
  });
  let hasToken = false;
  for (const [run] of format.matchAll(/[A-Za-z]+/g)) {
    const found = run.match(TOKEN) ?? [];
    const left = run.replace(TOKEN, '');
    const foreign = FOREIGN[run];
    if (foreign !== undefined) return unknown(run, foreign);
    // A day and a time often have `T` between them.
    if (found.length > 0 && left !== '' && left !== 'T') return unknown(run, nearest(run, tokens, 1)[0] ?? null);
    const other = found.find((token) => !tokens.includes(token));
    if (other) return unknown(other, null);
    hasToken ||= found.length > 0;
  }
  return hasToken ? null : { message: `"${format}" has none of ${tokens.join(' ')}`, nearest: null };
}

const pad = (value: number, length = 2): string => String(value).padStart(length, '0');

/**
 * Fills values into a recipe's text. Formats are for dates (`YYYY-MM-DD` inside), or `upper`, `lower`, `digits`.
 * @throws Unreadable for a name without a value
 */
export function filled(text: string, values: Values, { months = MONTHS }: Partial<Site> = {}): string {
  return text.replaceAll(PLACE, (_, name: string, format: string | undefined) => {
    const value = values[`${name}:${format}`] ?? values[name];
    if (value === undefined || value === '') throw new Unreadable(`there is no ${name} here`);
    return format === undefined || `${name}:${format}` in values ? value : formatted(value, format, months);
  });
}

export const missingIn = (text: string, values: Values): string[] =>
  [...text.matchAll(PLACE)].flatMap(([, name = '']) => (values[name] ? [] : [name]));

function formatted(value: string, format: string, months: readonly string[]): string {
  if (format === 'upper') return value.toUpperCase();
  if (format === 'lower') return value.toLowerCase();
  if (format === 'digits') return value.replace(/\D/g, '');
  const [, year = '', month = '', day = '1'] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(value) ?? [];
  if (year === '') throw new Unreadable(`"${format}" is a format of dates`);
  const monthName = months[Number(month) - 1] ?? '';
  const weekday = DAYS[new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDay()] ?? '';
  const parts: Record<string, string> = {
    YYYY: year,
    YY: year.slice(2),
    MMMM: monthName,
    MMM: monthName.slice(0, 3),
    MM: month,
    M: String(Number(month)),
    DD: day,
    D: String(Number(day)),
    dddd: weekday,
    ddd: weekday.slice(0, 3),
  };
  return format.replace(TOKEN, (token) => parts[token] ?? token);
}

/** Joins lines, and drops invisible characters. */
const clean = (text: string): string =>
  text
    .replace(/\p{Cf}/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** Reads a pattern's group, or its whole match. @throws Unreadable */
export function partOf(text: string, pattern: string | undefined): string {
  if (pattern === undefined) return clean(text);
  const found = new RegExp(pattern, 'u').exec(text);
  if (!found) throw new Unreadable(`"${shortened(text)}" doesn't fit ${pattern}`);
  return clean(found[1] ?? found[0]);
}

export const shortened = (text: string, most = 80): string =>
  clean(text).length > most ? `${[...clean(text)].slice(0, most).join('')}…` : clean(text);

export interface Money {
  /** A decimal that `parseUsdc` reads. */
  readonly decimal: string;
  readonly currency: string;
}

const NUMBERS = {
  '1,234.50': { group: ',', point: '\\.' },
  '1.234,50': { group: '\\.', point: ',' },
  '1 234,50': { group: ' ', point: ',' },
  '1 234.50': { group: ' ', point: '\\.' },
  "1'234.50": { group: "['’]", point: '\\.' },
  '1,23,456.78': { group: ',', point: '\\.', units: '\\d{1,2}(?:,\\d{2})*,\\d{3}' },
} satisfies Record<string, NumberWriting>;

interface NumberWriting {
  readonly group: string;
  readonly point: string;
  /** Digits with separators, where they are not in threes. */
  readonly units?: string;
}

type NumberFormat = keyof typeof NUMBERS;
export const NUMBER_FORMATS = Object.keys(NUMBERS) as NumberFormat[];

/**
 * Reads a price to the cent; one decimal is tens of cents. Refuses two numbers, another format (`1.234` where the point
 * is for cents), a sign, and an unknown currency.
 * @throws Unreadable
 */
export function readMoneyText(text: string, site: Site, fixed?: string): Money {
  const { group, point, units: grouped = `\\d{1,3}(?:${group}\\d{3})+` }: NumberWriting = NUMBERS[site.numbers];
  const shown = clean(text);
  const number = new RegExp(`(${grouped}|\\d+)(?:${point}(\\d{1,2}))?`, 'u').exec(shown);
  const [whole = '', units = '', cents = ''] = number ?? [];
  const at = number?.index ?? 0;
  const before = shown.slice(0, at);
  const after = shown.slice(at + whole.length);
  const isCut = /[.,'’]$/.test(before) || /^(?:[.,'’]\S|\s?%)/.test(after);
  if (whole === '' || isCut || /[-−+]\s?\p{Sc}?\s?$/u.test(before) || /\d/.test(before + after)) {
    throw new Unreadable(`"${shortened(text)}" is no amount like ${site.numbers}`);
  }
  const currency = fixed ?? currencyIn(`${before} ${after}`, site);
  if (currency === null) throw new Unreadable(`"${shortened(text)}" has no currency, or several`);
  const plain = units.replace(/\D/g, '').replace(/^0+(?=\d)/, '');
  if (plain.length > 9) throw new Unreadable(`"${shortened(text)}" is no price`);
  return { decimal: `${plain}.${cents.padEnd(2, '0')}`, currency };
}

function currencyIn(around: string, { symbols = {}, currency }: Site): string | null {
  let left = around;
  const found = new Set<string>();
  for (const [symbol, code] of Object.entries(symbols).sort(([a], [b]) => b.length - a.length)) {
    const isWord = /^\p{L}{4}|^\p{L}+ /u.test(symbol);
    const pattern = new RegExp(
      isWord ? `(?<!\\p{L})${escaped(symbol)}(?!\\p{L})` : escaped(symbol),
      isWord ? 'giu' : 'gu',
    );
    const without = left.replace(pattern, ' ');
    if (without !== left) found.add(code);
    left = without;
  }
  for (const [code] of left.matchAll(/\b[A-Z]{3}\b/g)) found.add(code);
  const [only = null] = found;
  if (found.size > 1) return null;
  // An unlisted sign may be another currency's.
  return only ?? (/\p{Sc}/u.test(left) ? null : currency);
}

type ReadDate = Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute', number | null>>;

export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Reads a date, a time, or both. @throws Unreadable */
export function readDateText(text: string, format: string, { months = MONTHS }: Partial<Site> = {}): ReadDate {
  const names = (length?: number) => months.map((name) => escaped(name.slice(0, length))).join('|');
  const tokens: string[] = [];
  const patterns: Record<string, string> = {
    YYYY: '(\\d{4})',
    YY: '(\\d\\d)',
    MMMM: `(${names()})`,
    MMM: `(${names(3)})\\.?`,
    ...{ MM: '(\\d\\d)', DD: '(\\d\\d)', HH: '(\\d\\d)', hh: '(\\d\\d)', mm: '(\\d\\d)' },
    ...{ M: '(\\d\\d?)', D: '(\\d\\d?)', H: '(\\d\\d?)', h: '(\\d\\d?)' },
    A: '(AM|PM)',
    dddd: '(\\p{L}+)',
    ddd: '(\\p{L}+)\\.?',
  };
  const source = escaped(format).replace(TOKEN, (token) => {
    tokens.push(token);
    return patterns[token] ?? '';
  });
  const found = new RegExp(`^${source}$`, 'iu').exec(clean(text));
  if (!found) throw new Unreadable(`"${shortened(text)}" is no date like ${format}`);
  const parts = new Map(tokens.map((token, i) => [token, found[i + 1] ?? '']));
  const number = (...names: string[]) => {
    const value = names.map((name) => parts.get(name)).find((one) => one !== undefined);
    return value === undefined ? null : Number(value);
  };
  const named = (parts.get('MMMM') ?? parts.get('MMM'))?.toLowerCase();
  const short = parts.has('MMMM') ? undefined : 3;
  const byName = months.findIndex((name) => name.slice(0, short).toLowerCase() === named);
  const century = number('YY');
  const afternoon = parts.get('A')?.toUpperCase();
  const hour = number('HH', 'H', 'hh', 'h');
  const read = {
    year: number('YYYY') ?? (century === null ? null : 2000 + century),
    month: byName >= 0 ? byName + 1 : number('MM', 'M'),
    day: number('DD', 'D'),
    hour: hour === null || afternoon === undefined ? hour : (hour % 12) + (afternoon === 'PM' ? 12 : 0),
    minute: number('mm'),
  };
  if (!isReal(read)) throw new Unreadable(`"${shortened(text)}" is a date that there is not`);
  return read;
}

function isReal({ year, month, day, hour, minute }: ReadDate): boolean {
  if ((hour ?? 0) > 23 || (minute ?? 0) > 59) return false;
  if (month === null || day === null) return month === null || (month >= 1 && month <= 12);
  // Allows a leap day without its year.
  const date = new Date(Date.UTC(year ?? 2024, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Returns YYYY-MM-DD: without a year the day nearest to `near`, without a day `near` itself. */
export function dayNear(read: ReadDate, near: string): string {
  if (read.month === null || read.day === null) return near;
  const about = Date.parse(`${near}T00:00:00Z`);
  const years = read.year === null ? [-1, 0, 1].map((add) => Number(near.slice(0, 4)) + add) : [read.year];
  const days = years.map((year) => `${pad(year, 4)}-${pad(read.month ?? 1)}-${pad(read.day ?? 1)}`);
  const away = (day: string) => Math.abs(Date.parse(`${day}T00:00:00Z`) - about);
  return days.reduce((best, day) => (away(day) < away(best) ? day : best));
}

/** Reads minutes of a duration (`readDuration` has the forms). @throws Unreadable */
export function minutesIn(text: string): number {
  const [found, hours, colon, minutes] =
    /^(?:PT)?(?:(\d{1,2})\s?(?:(:)|(?:h\p{L}*|std\p{L}*)\.?,?\s?))?(?:(\d{1,4})\s?(?:m\p{L}*\.?)?)?$/iu.exec(
      clean(text),
    ) ?? [];
  const total = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  const isWhole =
    hours === undefined ? /m/i.test(text) : colon ? /^[0-5]\d$/.test(minutes ?? '') : Number(minutes ?? 0) < 60;
  if (!found || !isWhole || total === 0) throw new Unreadable(`"${shortened(text)}" is no duration like 1h30m`);
  return total;
}

/** The time of day, HH:mm:ss. @throws Unreadable */
export function timeOf({ hour, minute }: ReadDate): string {
  if (hour === null || minute === null) throw new Unreadable('the page says no time of day');
  return `${pad(hour)}:${pad(minute)}:00`;
}
