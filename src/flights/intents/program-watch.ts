import { isProblem, problem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../ports.ts';

type Ports = Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox' | 'escrowProgram' | 'programTrouble'>;

const RETRY_S = 300;
/** The row that says that the program is wrong: whoever writes it pages, and its end makes room for the next. */
const KEY = 'escrow_program_changed';

/** What is wrong with the program of new escrows, for `/ready`; null while nothing is. Pages an operator once. */
export async function programTrouble(ports: Ports): Promise<string | null> {
  if (!ports.programTrouble) return null;
  const trouble = await ports.programTrouble();
  await tell(ports, trouble);
  return trouble;
}

/**
 * Nobody pays into a program that has become another one. What is paid already is captured or refunded all the same.
 * @throws Problem `escrow_program_changed`
 */
export async function checkProgram(ports: Ports): Promise<void> {
  const trouble = await programTrouble(ports);
  if (trouble !== null) {
    throw problem('escrow_program_changed', { message: trouble, retryAfter: RETRY_S });
  }
}

/** The worker's part: somebody is told also while nobody asks for anything. */
export async function watchProgram(ports: Ports): Promise<void> {
  try {
    await programTrouble(ports);
  } catch (error) {
    if (!isProblem(error, 'cluster_failed')) throw error;
    ports.log('warn', 'escrow_program_unread', { error_code: error.code });
  }
}

async function tell(ports: Ports, trouble: string | null): Promise<void> {
  const { store, clock, log, escrowProgram: program } = ports;
  const known = await store.selectFrom('meta').select('key').where('key', '=', KEY).executeTakeFirst();
  if ((known !== undefined) === (trouble !== null)) return;
  if (trouble === null) {
    await store.deleteFrom('meta').where('key', '=', KEY).execute();
    log('info', 'escrow_program_restored', { program });
    return;
  }
  const nowMs = clock.now();
  const isFirst = await store.transaction().execute(async (tx) => {
    const written = await tx
      .insertInto('meta')
      .values({ key: KEY, value: String(nowMs) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (!written.numInsertedOrUpdatedRows) return false;
    return ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:${KEY}:${nowMs}`,
      intentId: null,
      event: KEY,
      text: `${trouble} No new intents and bookings are taken until it is the shipped one again.`,
      fields: { program },
    });
  });
  if (isFirst) log('error', KEY, { program });
}
