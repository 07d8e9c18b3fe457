import { loadResume } from '../../client/payer/index.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/index.ts';

/** The service forgets a finished payment after a week; an older one is left as it is rather than called refused. */
const REMEMBERED_MS = 6 * DAY_MS;

/**
 * A booking that was killed between its payment and the answer goes on at the service by itself, and its payment would
 * stay `signed` in the journal for ever. Once the intent shows that it was booked, the service is asked: the very same
 * payment is sent again, to which it answers with what became of it. Nothing can be signed or paid here, and what
 * fails leaves the journal as it is: the command is about something else.
 */
export async function settleBookingPayments(
  { session, clock, globals, terminal, signal }: CommandContext,
  intent: Intent,
): Promise<void> {
  if (intent.booking_requested_at === null) return;
  const store = await session.store();
  const open = (await store.paymentsTo(intent.escrow.address)).filter(
    (one) => one.open && Date.parse(one.created_at) > clock.now() - REMEMBERED_MS,
  );
  for (const { payment_id: id } of open) {
    const signed = await store.signedPayment(id);
    if (!signed || signed.request.baseUrl !== session.baseUrl) continue;
    const { resumePayment } = await loadResume();
    try {
      await resumePayment(
        {
          journal: store,
          cluster: session.cluster,
          clock,
          fetch: await session.transport(),
          baseUrl: session.baseUrl,
          headersOf: async () => ({}),
        },
        signed,
        { timeoutMs: globals.timeout ?? 10_000, signal },
        { signal },
      );
    } catch (error) {
      if (!isProblem(error)) throw error;
      if (terminal.settings.verbose) terminal.trace(`Payment ${id} is still open: ${error.code}`);
    }
  }
}
