import { didYouMeanOneOf } from '../../kernel/nearest.ts';
import { type FieldPath, fieldsNear } from './fields.ts';

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
