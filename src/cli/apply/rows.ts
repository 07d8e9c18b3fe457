import { DEPOSIT_FIELDS, DEPOSIT_SYNONYMS, RETURN_FIELDS } from '../../kernel/domain/order-moves.ts';
import { didYouMeanOneOf, nearest } from '../../kernel/nearest.ts';

/** The fields of UpdateOrder that a row can give, and the names that a file may call them by. */

const PLAIN_FIELDS = [
  'orderId',
  'status',
  'sourceTransactionId',
  'destinationTransactionId',
  'reason',
  'customerFacingReason',
  'toAmount',
] as const;

/** The groups of fields; of deposit instructions with their synonyms. */
export const GROUPS = {
  depositInstructions: [...DEPOSIT_FIELDS, ...Object.keys(DEPOSIT_SYNONYMS)],
  returnDetails: RETURN_FIELDS,
} as const;

/** Where a value goes: `orderId`, `returnDetails.reason`, … */
export type FieldPath = string;

const FIELD_PATHS: readonly FieldPath[] = [
  ...PLAIN_FIELDS,
  ...Object.entries(GROUPS).flatMap(([group, fields]) => fields.map((field) => `${group}.${field}`)),
];

const squashed = (name: string): string => name.toLowerCase().replace(/[\s._-]/g, '');
const BY_NAME: ReadonlyMap<string, FieldPath> = new Map(FIELD_PATHS.map((path) => [squashed(path), path]));

/** The field that a name stands for, in camelCase, snake_case or kebab-case; null for one that is not known. */
export const fieldNamed = (name: string): FieldPath | null => BY_NAME.get(squashed(name)) ?? null;

const GROUP_NAMES = new Map(Object.keys(GROUPS).map((name) => [squashed(name), name]));

/** `depositInstructions` or `returnDetails`, by any of their names. */
export const groupNamed = (name: string): string | null => GROUP_NAMES.get(squashed(name)) ?? null;

/** Fields that a name may be a mistake for, whichever way they are written; of a group also without the group. */
export function fieldsNear(name: string): FieldPath[] {
  const forms = new Map(
    FIELD_PATHS.flatMap(
      (path) =>
        [
          [squashed(path), path],
          [leafOf(path), path],
        ] as const,
    ),
  );
  if (OTHER_IDS.test(squashed(name))) return ['orderId'];
  return [...new Set(nearest(squashed(name), [...forms.keys()]).flatMap((form) => forms.get(form) ?? []))];
}

/** Names that other systems give the id of an order. */
const OTHER_IDS = /^(ramp)?(id|order|order(no|nr|number|ref|reference|uuid))$/;

const leafOf = (path: FieldPath): string => squashed(path.split('.').at(-1) ?? path);

/** A row as it stands in the file: values by field, not yet checked. */
export interface RawRow {
  /** From 1, without the header. */
  readonly row: number;
  /** Line of the file on which the row ends, from 1. */
  readonly line: number;
  readonly values: ReadonlyMap<FieldPath, unknown>;
  readonly written?: WrittenRow;
  /** It also has a field that is not known, which is told by itself. */
  readonly hasUnknown: boolean;
}

/** How a row stands in its file: where a mistake is, and what the row is without it. */
export interface WrittenRow {
  /** From 1: the column of CSV, or the character at which a field of NDJSON begins; null for one that is not there. */
  columnOf(field: FieldPath): number | null;
  /** The field as the header of CSV names it; null where each row has names of its own. */
  nameOf(field: FieldPath): string | null;
  /** The row with other values. */
  corrected(values: ReadonlyMap<FieldPath, string>): string;
}

export interface RowIssue {
  /** null: the file as a whole, or its header. */
  readonly row: number | null;
  readonly line: number | null;
  readonly field: string | null;
  readonly message: string;
  /** From 1: the column of CSV, the character of NDJSON; null where it is the row as a whole. */
  readonly column?: number | null;
  /** The text that stands there. */
  readonly value?: string | null;
  /** The line as it should be, where that can be known: of a row the whole row, without any of its mistakes. */
  readonly corrected?: string | null;
}

export interface ReadRows {
  readonly rows: readonly RawRow[];
  readonly issues: readonly RowIssue[];
}

/** Words of an issue about a field that is none. */
export function unknownField(name: string): string {
  const near = didYouMeanOneOf(fieldsNear(name));
  return `is not a known field${near && `. ${near}`}`;
}
