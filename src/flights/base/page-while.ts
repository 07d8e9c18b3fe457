import type { FlightsPorts } from './ports.ts';

type Ports = Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox'>;

interface Watched {
  /** Names the row that says that something is wrong: whoever writes it pages, and its end makes room for the next. */
  readonly key: string;
  readonly event: string;
  /** Logged when it is over. */
  readonly restored: string;
  /** For the operator; null while nothing is wrong. */
  readonly text: string | null;
  readonly fields: Readonly<Record<string, string | number>>;
}

/** Pages an operator once for as long as something is wrong, whichever process sees it. */
export async function pageWhile(
  { store, clock, log, outbox }: Ports,
  { key, event, restored, text, fields }: Watched,
): Promise<void> {
  const known = await store.selectFrom('meta').select('key').where('key', '=', key).executeTakeFirst();
  if ((known !== undefined) === (text !== null)) return;
  if (text === null) {
    await store.deleteFrom('meta').where('key', '=', key).execute();
    log('info', restored, fields);
    return;
  }
  const nowMs = clock.now();
  const isFirst = await store.transaction().execute(async (tx) => {
    const written = await tx
      .insertInto('meta')
      .values({ key, value: String(nowMs) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (!written.numInsertedOrUpdatedRows) return false;
    return outbox.enqueue(tx, { kind: 'page', dedupKey: `page:${key}:${nowMs}`, intentId: null, event, text, fields });
  });
  if (isFirst) log('error', event, fields);
}
