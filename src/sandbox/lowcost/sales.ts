import { createHash, randomBytes } from 'node:crypto';
import type { Selectable, Updateable } from 'kysely';
import type { BookOutcome, NothingBought } from '../../airlines/index.ts';
import { openDatabase } from '../../store/index.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import { airlineMigrations, recordLocator, tickets } from '../airline/index.ts';

/** `begun`: before the pay button; `pressed`: after it; `ended`: given up without it. */
interface SaleTable {
  reference: string;
  /** The latest visit, the only one that can press. */
  run: string;
  state: 'begun' | 'pressed' | 'ended';
  offer_id: string;
  passenger_count: number;
  paid_amount_decimal: string | null;
  booking_reference: string | null;
  /** Null if no confirmation comes. */
  confirms_at_ms: number | null;
  /** The reason for giving up, as JSON. */
  outcome: string | null;
  cancelled_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export type Sales = Awaited<ReturnType<typeof openSales>>;

/** Opens the purchases, which a home's processes share: carriers' records and ours in one, without passengers. */
export async function openSales(path: string, onTrouble?: OnTrouble) {
  const database = await openDatabase<{ lowcost_sales: SaleTable }>(path, airlineMigrations, onTrouble);
  /** Changes a begun sale, if this visit is its latest. */
  const change = (reference: string, run: string, changed: Updateable<SaleTable>) =>
    database
      .updateTable('lowcost_sales')
      .set(changed)
      .where('reference', '=', reference)
      .where('run', '=', run)
      .where('state', '=', 'begun')
      .executeTakeFirst();
  return {
    /** Begins a visit, or takes over an earlier one. Null if the button was pressed. */
    async begin(sale: { reference: string; offerId: string; passengerCount: number; nowMs: number }) {
      const { reference, offerId, passengerCount, nowMs } = sale;
      const run = randomBytes(8).toString('hex');
      const begun = await database
        .insertInto('lowcost_sales')
        .values({
          reference,
          run,
          state: 'begun',
          offer_id: offerId,
          passenger_count: passengerCount,
          created_at_ms: nowMs,
          updated_at_ms: nowMs,
        })
        .onConflict((conflict) =>
          conflict
            .column('reference')
            .doUpdateSet({ run, updated_at_ms: nowMs })
            .where('lowcost_sales.state', '=', 'begun'),
        )
        .returning('run')
        .executeTakeFirst();
      return begun?.run ?? null;
    },
    async end(reference: string, run: string, outcome: NothingBought, nowMs: number): Promise<void> {
      await change(reference, run, { state: 'ended', outcome: JSON.stringify(outcome), updated_at_ms: nowMs });
    },
    /**
     * Presses the button if this visit is the latest. Record and press are one write here; with a real carrier the
     * record comes first.
     */
    async press(reference: string, run: string, paidDecimal: string, confirmsAtMs: number | null): Promise<boolean> {
      const pressed = await change(reference, run, {
        state: 'pressed',
        paid_amount_decimal: paidDecimal,
        booking_reference: recordLocator(),
        confirms_at_ms: confirmsAtMs,
      });
      return pressed.numUpdatedRows > 0n;
    },
    async find(reference: string, nowMs: number): Promise<BookOutcome | null> {
      const row = await database
        .selectFrom('lowcost_sales')
        .selectAll()
        .where('reference', '=', reference)
        .executeTakeFirst();
      return row ? outcomeAt(row, nowMs) : null;
    },
    async cancel(reference: string, nowMs: number): Promise<void> {
      await database
        .updateTable('lowcost_sales')
        .set({ cancelled_at_ms: nowMs, updated_at_ms: nowMs })
        .where('reference', '=', reference)
        .where('confirms_at_ms', '<=', nowMs)
        .where('cancelled_at_ms', 'is', null)
        .execute();
    },
    close: () => database.destroy(),
  };
}

/** Null if the button was not pressed: a later visit may press it. */
function outcomeAt(row: Selectable<SaleTable>, nowMs: number): BookOutcome | null {
  if (row.state === 'begun') return null;
  if (row.state === 'ended') return JSON.parse(row.outcome ?? '{"kind":"offer_gone"}') as NothingBought;
  if (row.confirms_at_ms === null) return { kind: 'payment_pressed_no_confirmation' };
  if (nowMs < row.confirms_at_ms) return { kind: 'pending' };
  const seed = createHash('sha256').update(row.reference).digest('hex');
  return {
    kind: 'booked',
    bookingReference: row.booking_reference ?? '',
    documents: tickets(`lowcost ${seed}`, row.passenger_count).map(({ number }) => ({
      type: 'itinerary_receipt',
      number,
    })),
    paidAmountDecimal: row.paid_amount_decimal ?? '',
    confirmedAtMs: row.confirms_at_ms,
    cancelledAtMs: row.cancelled_at_ms,
  };
}
