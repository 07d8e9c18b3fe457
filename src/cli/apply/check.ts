import { DEPOSIT_SYNONYMS, MOST } from '../../domain/order-fields.ts';
import { isOrderStatus, ORDER_STATUSES, type OrderStatus } from '../../domain/order-statuses.ts';
import { DECIMAL_FORM } from '../../kernel/decimal.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { isBlank, STORABLE } from '../../kernel/texts.ts';
import type { UpdateOrderRequest } from '../../partner/wire.ts';
import { GROUPS } from './fields.ts';
import type { RawRow, RowIssue } from './read.ts';

/** UpdateOrder as it is sent. */
export type OrderUpdate = UpdateOrderRequest;

export interface CheckedRow {
  readonly row: number;
  readonly line: number;
  readonly update: OrderUpdate;
}

/** Longest texts; the first that fits a field's name. */
const LONGEST: readonly (readonly [RegExp, number])[] = [
  [/^orderId$/, MOST.id],
  [/TransactionId$|refundReferenceId$/, MOST.reference],
  [/^depositInstructions\./, MOST.deposit],
  [/./, MOST.words],
];

/** Every row as an UpdateOrder, and everything that is wrong with any of them. */
export function checkRows(rows: readonly RawRow[]): { checked: CheckedRow[]; issues: RowIssue[] } {
  const checked: CheckedRow[] = [];
  const issues: RowIssue[] = [];
  for (const raw of rows) {
    const wrong: RowIssue[] = [];
    const update = updateOf(raw, (field, message) =>
      wrong.push({ row: raw.row, line: raw.line, field, message }),
    );
    issues.push(...wrong);
    if (update !== null && wrong.length === 0) checked.push({ row: raw.row, line: raw.line, update });
  }
  return { checked, issues };
}

type Tell = (field: string | null, message: string) => void;

function updateOf(raw: RawRow, tell: Tell): OrderUpdate | null {
  const text = (field: string): string | undefined => textOf(raw.values.get(field), field, tell);
  const orderId = text('orderId');
  if (orderId === undefined) {
    if (!raw.values.has('orderId')) tell('orderId', 'is missing');
    return null;
  }
  const status = statusOf(text('status'), tell);
  const toAmount = text('toAmount');
  if (toAmount !== undefined && !DECIMAL_FORM.test(toAmount)) {
    tell('toAmount', 'is not a decimal amount such as 12.50, of at most 18 digits and 18 decimals');
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
  if (raw.values.size === 1 && !raw.hasUnknown) tell(null, 'names an order and nothing to change');
  return { orderId, ...given };
}

const present = <K extends string, V>(name: K, value: V | undefined): { [name in K]?: V } =>
  (value === undefined ? {} : { [name]: value }) as { [name in K]?: V };

function textOf(value: unknown, field: string, tell: Tell): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') {
    // A JSON number has lost the digits that were meant before anybody could look at it.
    tell(field, typeof value === 'number' ? 'is a number: write it in quotes' : 'is not a text');
    return undefined;
  }
  const text = value.trim();
  const longest = LONGEST.find(([name]) => name.test(field))?.[1] ?? 0;
  if (isBlank(text)) tell(field, 'is empty');
  else if (text.length > longest) tell(field, `is longer than ${longest} characters`);
  else if (field === 'orderId' && /\s/.test(text)) tell(field, 'is not an order id');
  else if (!STORABLE.test(text)) tell(field, 'holds characters that are no text');
  else if (/\p{Cc}/u.test(text.replace(/[\r\n\t]/g, ' '))) tell(field, 'has control characters');
  else return text;
  return undefined;
}

function statusOf(text: string | undefined, tell: Tell): OrderStatus | undefined {
  if (text === undefined) return undefined;
  const status = text.toUpperCase().replace(/[\s-]+/g, '_');
  if (isOrderStatus(status)) return status;
  const near = didYouMean(status, ORDER_STATUSES);
  tell('status', `is "${text}", not one of ${ORDER_STATUSES.join(', ')}${near && `. ${near}`}`);
  return undefined;
}

/** The instructions, whose three synonyms do not stand beside the fields that they name. */
function depositOf(text: (field: string) => string | undefined, tell: Tell) {
  const given = groupOf('depositInstructions', text);
  for (const [synonym, name] of Object.entries(DEPOSIT_SYNONYMS)) {
    if (given?.[synonym] !== undefined && given[name] !== undefined)
      tell(`depositInstructions.${synonym}`, `is another name of ${name}: give one of them`);
  }
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
