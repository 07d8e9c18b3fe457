import type { Selectable } from 'kysely';
import type { BookingTable, IntentTable, RefundRequestTable } from './tables.ts';

/** Rows as they are read. */
export type IntentRow = Selectable<IntentTable>;
export type BookingRow = Selectable<BookingTable>;
export type RefundRequestRow = Selectable<RefundRequestTable>;
