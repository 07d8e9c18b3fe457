import { markOnce } from '../../store/index.ts';
import { behindMark, DATABASE_BEHIND, type FlightsPorts, pageOnce, type Why } from '../base/index.ts';

/** Marks the database unless it is marked. Pages an operator, unless an operator set the mark. */
export async function markBehind(ports: FlightsPorts, why: Why, sinceMs: number): Promise<void> {
  const value = behindMark({ why, at_ms: ports.clock.now(), since_ms: sinceMs });
  if (why === 'by_hand') await markOnce(ports.store, DATABASE_BEHIND, value);
  else {
    await pageOnce(ports, {
      ...{ key: DATABASE_BEHIND, event: DATABASE_BEHIND, value, fields: { why } },
      text: 'The database was put back to an earlier moment. Bookings, refunds and pay-outs wait until farelock db reconcile has run.',
    });
  }
  ports.isBehind.again();
}

export async function unmarkBehind({ store, isBehind }: FlightsPorts): Promise<void> {
  await store.deleteFrom('meta').where('key', '=', DATABASE_BEHIND).execute();
  isBehind.again();
}
