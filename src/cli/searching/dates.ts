import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { capital, dayName, harmless } from '../../terminal/index.ts';
import type { CommandContext } from '../spec/index.ts';

const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/** A text read as a day, YYYY-MM-DD. */
type ReadDate =
  | { readonly kind: 'day'; readonly day: string }
  /** `03/04` as day and month, then as month and day. */
  | { readonly kind: 'either'; readonly days: readonly [string, string] }
  | { readonly kind: 'wrong'; readonly message: string; readonly fix: string };

interface DateRules {
  readonly nowMs: number;
  /** The earliest day for a weekday or a day without a year; default: today. */
  readonly from?: string | undefined;
  /** True for a birthday or the expiry of a passport: the year cannot be guessed. */
  readonly needsYear?: boolean;
}

/**
 * Reads a date as people type it, and as the tool itself prints it: `2026-12-22`, `Tue 22 Dec 2026`, `Dec 22`, `22/12`,
 * `22.12.2026`, `today`, `tomorrow`, `+30d`, `in 3 weeks`, `fri`, `next friday`. Counts from the local date.
 */
export function readDate(text: string, rules: DateRules): ReadDate {
  const wanted = text
    .normalize('NFKC')
    .trim()
    .toLowerCase()
    .replace(/[\s,]+/g, ' ');
  const ahead = dayAhead(wanted, rules);
  if (ahead !== null) return { kind: 'day', day: ahead };
  const [word = '', ...words] = wanted.split(' ');
  const weekday = words.length > 0 ? weekdayOf(word.replace(/\.$/, '')) : null;
  const parts = partsOf(weekday === null ? wanted : words.join(' '), rules.needsYear === true);
  const read = parts.map((one) => dayOfParts(one, rules));
  const days = [...new Set(read.flatMap((one) => (typeof one === 'string' ? [one] : [])))];
  const [first, second] = weekday === null ? days : days.filter((day) => weekdayOn(day) === weekday);
  if (first !== undefined && second !== undefined) return { kind: 'either', days: [first, second] };
  if (first !== undefined) return { kind: 'day', day: first };
  const [other] = days;
  if (other !== undefined && weekday !== null) {
    const nameOf = (day: number) => capital(WEEKDAYS[day] ?? '');
    const message = `${dayName(other).slice(4)} is a ${nameOf(weekdayOn(other))}, not a ${nameOf(weekday)}.`;
    return { kind: 'wrong', message, fix: 'Correct the day, or leave the weekday out.' };
  }
  const why = read.find((one) => typeof one !== 'string');
  const example = rules.needsYear ? '2026-12-20 or 20 Dec 2026' : '2026-12-20, 20 Dec, tomorrow, +30d or fri';
  return { kind: 'wrong', message: why ? why.wrong : `"${text}" is not a date.`, fix: `Write it as ${example}.` };
}

/**
 * Reads a date as people type it; returns YYYY-MM-DD.
 * @throws Problem `usage`, which names both days if a text has two readings
 */
export const parseDate = (text: string, nowMs: number): string => dayRead(text, readDate(text, { nowMs }));

/**
 * Reads a date of a command line; asks a person which of two readings is meant.
 * @param option the option that gave it, such as `--depart`
 * @throws Problem `usage`
 */
export async function dateOption(
  { terminal, clock }: CommandContext,
  option: string,
  text: string,
  from?: string,
): Promise<string> {
  const read = readDate(text, { nowMs: clock.now(), from });
  if (read.kind !== 'either' || !terminal.canAsk) return dayRead(text, read);
  return terminal.ask(option).choose(whichDay(text), dayChoices(read.days));
}

export const whichDay = (text: string): string => `${harmless(text)}: which day?`;

export const dayChoices = (days: readonly string[]): { name: string; value: string }[] =>
  days.map((day) => ({ name: dayName(day), value: day }));

function dayRead(text: string, read: ReadDate): string {
  if (read.kind === 'day') return read.day;
  if (read.kind === 'wrong') throw problem('usage', { message: read.message, fix: read.fix });
  const [dayFirst, monthFirst] = read.days;
  throw problem('usage', {
    message: `"${text}" can be read two ways: ${dayName(dayFirst)} or ${dayName(monthFirst)}.`,
    fix: `Write ${dayFirst} or ${monthFirst}.`,
    detail: { given: text, meant: read.days },
  });
}

/** Reads a day counted from now, or the next weekday; null for any other text. */
function dayAhead(wanted: string, { nowMs, from }: DateRules): string | null {
  if (wanted === 'today') return dayFrom(nowMs, 0);
  if (wanted === 'tomorrow') return dayFrom(nowMs, 1);
  const ahead = /^(?:\+|in )(\d{1,3}|an?|one) ?(d|w|days?|weeks?|months?)$/.exec(wanted);
  if (ahead) {
    const [, many = '', unit = ''] = ahead;
    const count = /^\d/.test(many) ? Number(many) : 1;
    return unit.startsWith('m') ? monthsFrom(nowMs, count) : dayFrom(nowMs, count * (unit[0] === 'w' ? 7 : 1));
  }
  const weekday = weekdayOf(wanted.replace(/^(next|this|on) /, ''));
  if (weekday === null) return null;
  const days = (weekday - new Date(nowMs).getDay() + 7) % 7;
  const next = dayFrom(nowMs, days === 0 ? 7 : days);
  if (from === undefined || next >= from) return next;
  const weeks = Math.ceil((Date.parse(from) - Date.parse(next)) / (7 * DAY_MS));
  return isoDay(Date.parse(next) + weeks * 7 * DAY_MS);
}

/** A day of the calendar; `year` null where it was left out. */
interface DateParts {
  readonly day: number;
  readonly month: number;
  readonly year: number | null;
}

const WORD_DAY = /^(\d{1,2})(?:st|nd|rd|th)?\.?[ -]?([a-z]{3,9})\.?(?:[ -](\d{4}|\d{2}))?$/;
const WORD_MONTH = /^([a-z]{3,9})\.?[ -]?(\d{1,2})(?:st|nd|rd|th)?(?: (\d{4}))?$/;
const NUMBERS = /^(\d{1,2})([/.-])(\d{1,2})(?:\2(\d{4}|\d{2})|\.)?$/;

/** Finds all readings of a text as a day of the calendar, the likelier first. */
function partsOf(text: string, needsYear: boolean): DateParts[] {
  const iso = /^(\d{4})([-/.])(\d\d)\2(\d\d)$/.exec(text);
  if (iso) return [{ year: Number(iso[1]), month: Number(iso[3]), day: Number(iso[4]) }];
  const [, day, word, year] = WORD_DAY.exec(text) ?? swapped(WORD_MONTH.exec(text)) ?? [];
  if (word !== undefined) {
    const month = indexOf(MONTHS, word);
    return month === null ? [] : [{ day: Number(day), month: month + 1, year: yearOf(year, needsYear) }];
  }
  const numbers = NUMBERS.exec(text);
  if (!numbers) return [];
  const [, one, mark, two, last] = numbers;
  const dayFirst = { day: Number(one), month: Number(two), year: yearOf(last, needsYear) };
  const monthFirst = { day: Number(two), month: Number(one), year: yearOf(last, needsYear) };
  // Dots mean that the day comes first.
  if (mark === '.') return [dayFirst];
  return dayFirst.month > 12 && monthFirst.month <= 12 ? [monthFirst] : [dayFirst, monthFirst];
}

const swapped = (found: RegExpExecArray | null): readonly (string | undefined)[] | null =>
  found && [found[0], found[2], found[1], found[3]];

/** Two digits are a year of this century; with `needsYear` they leave the century open (null). */
function yearOf(text: string | undefined, needsYear: boolean): number | null {
  if (text === undefined || (text.length === 2 && needsYear)) return null;
  return Number(text.length === 2 ? `20${text}` : text);
}

/** The day as YYYY-MM-DD, or the fault. */
function dayOfParts(parts: DateParts, rules: DateRules): string | { readonly wrong: string } {
  const { day, month, year } = parts;
  const name = MONTHS[month - 1];
  if (name === undefined) return { wrong: `There is no month ${month}.` };
  const most = daysIn(year ?? 2028, month);
  if (day < 1 || day > most) {
    const days = year === null && month === 2 ? '28 days, or 29' : `${most} days`;
    return { wrong: `${capital(name)}${year === null ? '' : ` ${year}`} has ${days}.` };
  }
  if (year !== null) return isoOf({ ...parts, year });
  if (rules.needsYear) return { wrong: 'Write the year with four digits.' };
  const from = rules.from ?? dayFrom(rules.nowMs, 0);
  for (let next = Number(from.slice(0, 4)); ; next++) {
    const iso = isoOf({ ...parts, year: next });
    // 29 February comes every four or eight years.
    if (day <= daysIn(next, month) && iso >= from) return iso;
  }
}

const isoOf = ({ year, month, day }: DateParts & { readonly year: number }): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

const weekdayOf = (word: string): number | null => indexOf(WEEKDAYS, word);

/** Finds the name that equals the word, or begins with it from three letters on. */
function indexOf(names: readonly string[], word: string): number | null {
  const at = word.length < 3 ? -1 : names.findIndex((name) => name.startsWith(word));
  return at < 0 ? null : at;
}

const weekdayOn = (day: string): number => new Date(`${day}T00:00:00Z`).getUTCDay();

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();

function dayFrom(nowMs: number, days: number): string {
  const here = new Date(nowMs);
  // Noon in UTC of the local date: no clock change can move it to another day.
  return isoDay(Date.UTC(here.getFullYear(), here.getMonth(), here.getDate() + days, 12));
}

/** The same day of a later month, or the last day if that month is shorter. */
function monthsFrom(nowMs: number, months: number): string {
  const here = new Date(nowMs);
  const [year, month] = [here.getFullYear(), here.getMonth() + months];
  const day = Math.min(here.getDate(), daysIn(year, month + 1));
  return isoDay(Date.UTC(year, month, day, 12));
}
