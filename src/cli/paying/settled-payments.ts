import { loadResume } from '../../client/payer/index.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Intent } from '../../wire/flights/index.ts';
import type { CommandContext } from '../spec/index.ts';

/** The service forgets a finished payment after a week: an older one stays open here rather than become refused. */
const REMEMBERED_MS = 6 * DAY_MS;

/**
 * Settles in the journal what a killed booking left open. The service goes on with the booking, but its payment would
 * stay `signed` here. The same payment is sent again, and the service answers what became of it: nothing can be signed
 * or paid. A failure leaves the journal as it is, since the command is about something else.
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
