import { currencyIssue, networkIssue } from '../../kernel/domain/exchange-codes.ts';
import {
  DEPOSIT_SYNONYMS,
  isOrderStatus,
  MOST,
  ORDER_STATUSES,
  type OrderStatus,
} from '../../kernel/domain/order-moves.ts';
import { canonicalJson } from '../../kernel/json.ts';
import { DECIMAL_FORM } from '../../kernel/money.ts';
import { didYouMeanOneOf, nearest } from '../../kernel/nearest.ts';
import { isBlank, STORABLE } from '../../kernel/texts.ts';
import type { UpdateOrderRequest } from '../../wire/partner/index.ts';
import { type FieldPath, GROUPS, onlyOne, type RawRow, type RowIssue } from './read.ts';

export type OrderUpdate = UpdateOrderRequest;

export interface CheckedRow {
  readonly row: number;
  readonly line: number;
  readonly update: OrderUpdate;
}

/** The most characters of a field: the first pattern that matches its name counts. */
const LONGEST: readonly (readonly [RegExp, number])[] = [
  [/^orderId$/, MOST.id],
  [/TransactionId$|refundReferenceId$/, MOST.reference],
  [/^depositInstructions\./, MOST.deposit],
  [/./, MOST.words],
];

/** Returns every correct row as an UpdateOrder, and the mistakes of all others. */
export function checkRows(rows: readonly RawRow[]): { checked: CheckedRow[]; issues: RowIssue[] } {
  const checked: CheckedRow[] = [];
  const issues: RowIssue[] = [];
  const last = new Map<string, CheckedRow>();
  for (const raw of rows) {
    const { row, line, written } = raw;
    const wrong: RowIssue[] = [];
    const meant = new Map<FieldPath, string>();
    const update = updateOf(raw, (field, message, fix) => {
      const value = field === null ? undefined : raw.values.get(field);
      const column = field === null ? null : (written?.columnOf(field) ?? null);
      wrong.push({ row, line, field, message, column, ...(fix && { value: String(value) }) });
      if (field !== null && fix?.meant) meant.set(field, fix.meant);
    });
    const now = wrong.length === 0 && update !== null ? { row, line, update } : null;
    const before = now && last.get(now.update.orderId);
    if (now && before && canonicalJson(before.update) === canonicalJson(now.update)) {
      const message = `repeats row ${before.row} (line ${before.line}): leave one of them out`;
      const column = written?.columnOf('orderId') ?? null;
      wrong.push({ row, line, field: 'orderId', message, column, value: now.update.orderId });
    }
    if (now) last.set(now.update.orderId, now);
    else if (update) last.delete(update.orderId);
    const corrected = written && meant.size > 0 && meant.size === wrong.length ? written.corrected(meant) : null;
    issues.push(...wrong.map((issue) => ({ ...issue, corrected })));
    if (now && wrong.length === 0) checked.push(now);
  }
  return { checked, issues };
}

/** Notes a mistake. With `fix` its value is shown; `meant` is the only value that can have been meant, or null. */
type Tell = (field: string | null, message: string, fix?: { readonly meant: string | null }) => void;

function updateOf(raw: RawRow, tell: Tell): OrderUpdate | null {
  const text = (field: string): string | undefined => textOf(raw.values.get(field), field, tell);
  const orderId = text('orderId');
  if (orderId === undefined) {
    const column = raw.written?.nameOf('orderId') ?? null;
    if (!raw.values.has('orderId'))
      tell('orderId', column === null ? 'is missing' : `is missing: the column ${column} is empty in this row`);
    return null;
  }
  const status = statusOf(text('status'), tell);
  const toAmount = text('toAmount');
  if (toAmount !== undefined && !DECIMAL_FORM.test(toAmount)) {
    const pointed = toAmount.replace(/^(\d+),(\d{1,2})$/, '$1.$2');
    tell('toAmount', 'is not a decimal amount such as 12.50, with at most 18 digits and 18 decimals', {
      meant: DECIMAL_FORM.test(pointed) ? pointed : null,
    });
  }
  const reason = text('reason');
  if (status === 'ERROR' && reason === undefined) tell('reason', 'is required when status is ERROR');
  const given = {
    ...present('status', status),
    ...present('sourceTransactionId', text('sourceTransactionId')),
    ...present('destinationTransactionId', text('destinationTransactionId')),
    ...present('depositInstructions', depositOf(text, tell)),
    ...present('reason', reason),
    ...present('customerFacingReason', text('customerFacingReason')),
    ...present('returnDetails', groupOf('returnDetails', text)),
    ...present('toAmount', toAmount),
  };
  if (raw.values.size === 1 && !raw.hasUnknown) tell(null, 'names an order but no change');
  return { orderId, ...given };
}

const present = <K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } =>
  (value === undefined ? {} : { [name]: value }) as { [name in K]?: V };

function textOf(value: unknown, field: string, tell: Tell): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    // A JSON number may have lost digits already.
    tell(field, typeof value === 'number' ? 'is a number: write it in quotes' : 'must be text');
    return undefined;
  }
  const text = value.trim();
  const longest = LONGEST.find(([name]) => name.test(field))?.[1] ?? 0;
  if (isBlank(text)) tell(field, 'is empty');
  else if (text.length > longest) tell(field, `is longer than ${longest} characters`);
  else if (field === 'orderId' && /\s/.test(text)) tell(field, 'is not an order id');
  else if (!STORABLE.test(text)) tell(field, 'has characters that are not valid text');
  else if (/^\d(?:[.,]\d+)?E\+\d{1,3}$/i.test(text))
    tell(field, 'was shortened by a spreadsheet: format its column as text, and export it again');
  else if (/\p{Cc}/u.test(text.replace(/[\r\n\t]/g, ' '))) tell(field, 'has control characters');
  else return text;
  return undefined;
}

function statusOf(text: string | undefined, tell: Tell): OrderStatus | undefined {
  if (text === undefined) return undefined;
  const status = text.toUpperCase().replace(/[\s-]+/g, '_');
  if (isOrderStatus(status)) return status;
  const near = nearest(status, ORDER_STATUSES);
  const words = near.length > 0 ? `. ${didYouMeanOneOf(near)}` : ` of ${ORDER_STATUSES.join(', ')}`;
  tell('status', `is not one${near.length > 0 ? ' of the statuses' : ''}${words}`, { meant: onlyOne(near) });
  return undefined;
}

/** Reads the deposit instructions; a synonym and the field that it means exclude each other. */
function depositOf(text: (field: string) => string | undefined, tell: Tell) {
  const given = groupOf('depositInstructions', text);
  for (const [synonym, name] of Object.entries(DEPOSIT_SYNONYMS)) {
    if (given?.[synonym] !== undefined && given[name] !== undefined)
      tell(`depositInstructions.${synonym}`, `is another name for ${name}: give only one of them`);
  }
  for (const { field, message, near } of codeIssues(given))
    tell(`depositInstructions.${field}`, message, { meant: onlyOne(near) });
  return given;
}

function groupOf(
  group: keyof typeof GROUPS,
  text: (field: string) => string | undefined,
): Record<string, string> | undefined {
  const entries = GROUPS[group].flatMap((field): [string, string][] => {
    const value = text(`${group}.${field}`);
    return value === undefined ? [] : [[field, value]];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** Finds impossible currencies and networks in deposit instructions. */
export function codeIssues(
  given: Readonly<Record<string, string>> | undefined,
): { field: string; message: string; near: readonly string[] }[] {
  const found = [
    ['currency', 'is not a currency', given?.currency && currencyIssue(given.currency)],
    ['network', 'is not a network', given?.network && networkIssue(given.network)],
  ] as const;
  return found.flatMap(([field, words, issue]) => {
    if (!issue) return [];
    const near = didYouMeanOneOf(issue.near);
    return [{ field, message: `${words}${near && `. ${near}`}`, near: issue.near }];
  });
}
