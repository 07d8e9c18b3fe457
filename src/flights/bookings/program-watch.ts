import { isProblem, problem } from '../../kernel/problems.ts';
import { type FlightsPorts, pageWhile } from '../base/index.ts';

type Ports = Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox' | 'escrowProgram' | 'programTrouble'>;

const RETRY_S = 300;
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

const tell = (ports: Ports, trouble: string | null): Promise<void> =>
  pageWhile(ports, {
    key: KEY,
    event: KEY,
    restored: 'escrow_program_restored',
    text: trouble && `${trouble} No new intents and bookings are taken until it is the shipped one again.`,
    fields: { program: ports.escrowProgram },
  });
