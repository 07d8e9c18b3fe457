import { createHash, randomBytes } from 'node:crypto';
import type { Selectable, Updateable } from 'kysely';
import type { BookOutcome, NothingBought } from '../../airlines/index.ts';
import { openDatabase } from '../../store/index.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import { airlineMigrations, recordLocator, tickets } from '../airline/index.ts';

/** `begun`: before the pay button; `pressed`: past it; `ended`: given up before it. */
interface SaleTable {
  reference: string;
  /** The latest visit, which alone can press. */
  run: string;
  state: 'begun' | 'pressed' | 'ended';
  offer_id: string;
  passenger_count: number;
  paid_amount_decimal: string | null;
  booking_reference: string | null;
  /** The confirmation's time; null: never. */
  confirms_at_ms: number | null;
  /** The reason for giving up, JSON. */
  outcome: string | null;
  cancelled_at_ms: number | null;
  created_at_ms: number;
  updated_at_ms: number;
}

export type Sales = Awaited<ReturnType<typeof openSales>>;

/** Purchases of carriers and our own, shared by a home's processes, without passengers. */
export async function openSales(path: string, onTrouble?: OnTrouble) {
  const database = await openDatabase<{ lowcost_sales: SaleTable }>(path, airlineMigrations, onTrouble);
  /** Changes a begun sale of the latest visit. */
  const change = (reference: string, run: string, changed: Updateable<SaleTable>) =>
    database
      .updateTable('lowcost_sales')
      .set(changed)
      .where('reference', '=', reference)
      .where('run', '=', run)
      .where('state', '=', 'begun')
      .executeTakeFirst();
  return {
    /** Begins a visit or takes over an unpressed one; null past the button. */
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
    /** Ends a visit with nothing bought. */
    async end(reference: string, run: string, outcome: NothingBought, nowMs: number): Promise<void> {
      await change(reference, run, { state: 'ended', outcome: JSON.stringify(outcome), updated_at_ms: nowMs });
    },
    /**
     * Presses the button as the latest visit. Record and press are one write here; a real carrier needs the record
     * first.
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

/** null: not pressed, and a later visit may. */
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
