import { ADULT_FROM, type Seat } from '../../kernel/domain/travel-ages.ts';
import { parseUsdc } from '../../kernel/money.ts';

/** Readers of untrusted answers; null if a value is missing or of another kind. */

export type Fields = Readonly<Record<string, unknown>>;

export const object = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;

export const list = (value: unknown): readonly unknown[] | null => (Array.isArray(value) ? value : null);

/** Parses a JSON object; null for a gateway's text or a cut answer. */
export function parsed(json: string): Fields | null {
  try {
    return object(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export const objects = (value: unknown): readonly Fields[] =>
  (list(value) ?? []).map(object).filter((one) => one !== null);

export const texts = (value: unknown): string[] => (list(value) ?? []).flatMap((one) => text(one) ?? []);

const MOST_LETTERS = 300;

export function text(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const trimmed = value.trim();
  return trimmed === '' || trimmed.length > MOST_LETTERS ? null : trimmed;
}

const matching =
  (form: RegExp) =>
  (value: unknown): string | null =>
    typeof value === 'string' && form.test(value) ? value : null;

/** Money stays decimal text. */
export const amount = matching(/^\d{1,12}(\.\d{1,6})?$/);
export const currency = matching(/^[A-Z]{3}$/);
export const iata = matching(/^[A-Z]{3}$/);
export const orderId = matching(/^ord_\w{1,100}$/);
export const offerId = matching(/^off_\w{1,100}$/);
export const quoteId = matching(/^\w{1,100}$/);
export const offerRequestId = matching(/^orq_\w{1,100}$/);

export const flag = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

export const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

/** The searched age of one of Duffel's passengers; null for an adult. */
export const seatOf = ({ age }: Fields): Seat => {
  const years = count(age);
  return years === null || years >= ADULT_FROM ? null : years;
};

/** A quantity such as kilograms, never money; Duffel writes some as text. */
export function quantity(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : null;
}

/** Epoch ms of `2026-02-02T11:59:52.247340Z`. */
export function instantMs(value: unknown): number | null {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value)) return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) || ms < 0 ? null : ms;
}

/** `2026-03-20T07:25:00` on the clock of an airport; null for a time with a zone of its own. */
export function localTime(value: unknown): string | null {
  const match =
    typeof value === 'string' ? /^(\d{4}-\d\d-\d\dT([01]\d|2[0-3]):[0-5]\d)(:[0-5]\d)?(\.\d+)?$/.exec(value) : null;
  if (!match) return null;
  const time = `${match[1]}${match[3] ?? ':00'}`;
  const ms = Date.parse(`${time}Z`);
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== time ? null : time;
}

/** `10.5` equals `10.50`. */
export const sameAmount = (a: string, b: string): boolean => parseUsdc(a) === parseUsdc(b);

/** The common value; null where they differ. */
export function shared<T>(values: readonly (T | null)[]): T | null {
  const [first] = values;
  return first !== undefined && values.every((value) => value === first) ? first : null;
}
