import type { PaidAnswer } from '../../client/payer/payer.ts';
import type { SignedPayment } from '../../client/store.ts';
import { quoted } from '../../kernel/shell-word.ts';
import type { Command, CommandContext } from '../context.ts';
import { isRecord } from '../json.ts';
import type { Screen } from '../terminal.ts';
import { nextLines } from '../view/payment.ts';
import { harmlessDocument } from '../view/text.ts';
import { unknownPayment } from './payments.ts';

export interface PaymentsResumeOptions {
  readonly paymentId: string;
}

/** Sends an unanswered payment again, and shows what it bought. Nothing new is signed. */
export const paymentsResume: Command<PaymentsResumeOptions> = async (context, { paymentId }) => {
  const { terminal, session, clock, globals, signal } = context;
  const store = await session.store();
  const signed = await store.signedPayment(paymentId);
  if (!signed) throw unknownPayment(paymentId);
  if (globals.dryRun) {
    const { printPlan } = await import('../plan.ts');
    const { amount, resource, host } = signed.record;
    printPlan(terminal, [`Send the signed payment of ${amount} USDC for ${resource} to ${host} again.`]);
    return 0;
  }
  const [{ resumePayment }, { headersOf }] = await Promise.all([
    import('../../client/payer/resume.ts'),
    import('../resumed-headers.ts'),
  ]);
  session.paidHere.note(paymentId);
  terminal.phase('Sending the payment again');
  const answer = await resumePayment(
    {
      journal: store,
      cluster: session.cluster,
      clock,
      fetch: await session.transport(),
      baseUrl: session.baseUrl,
      headersOf: (request) => headersOf(store, request),
    },
    signed,
    { timeoutMs: globals.timeout ?? 30_000, signal },
    { signal },
  );
  const payment = await store.payment(paymentId);
  const bought = answer?.payment ? await boughtLines(context, signed, answer) : null;
  terminal.result(
    { payment, answer: answer?.body ?? null },
    {
      lines: (_document, screen) => [
        ...(bought ? [...bought(screen), ''] : []),
        answer?.payment
          ? `${screen.paint.good('✓')} Paid ${answer.payment.amount} USDC for ${signed.record.resource}`
          : answer
            ? 'The service is still at it: resume it again in a moment.'
            : 'It was given up: it can no longer land, and the service says that it took nothing.',
      ],
    },
  );
  const next = answer?.payment ? nextOf(signed.record.resource, answer.body, signed.request.body) : null;
  if (next) terminal.aside(nextLines(next));
  return 0;
};

/** What was bought is shown, for nothing else has it any more: the offers of a search are numbered as ever. */
async function boughtLines(
  { session }: CommandContext,
  { record, request }: SignedPayment,
  answer: PaidAnswer,
): Promise<((screen: Screen) => readonly string[]) | null> {
  const { searchOf, orderOf } = await import('../../client/normalise.ts');
  const bought: unknown = harmlessDocument(answer.body);
  if (record.resource.startsWith('GET /air/orders/')) {
    const { orderLines } = await import('../view/order.ts');
    const order = orderOf(bought);
    return (screen) => orderLines(order, screen);
  }
  if (record.resource !== 'POST /air/search' || !isRecord(request.body)) return null;
  const { numberedOffers, searchLines } = await import('../view/search.ts');
  const { body } = request;
  const text = (name: string, usual: string): string => (typeof body[name] === 'string' ? body[name] : usual);
  const title = {
    from: text('origin_iata', '–'),
    to: text('destination_iata', '–'),
    depart: text('depart_date', '–'),
    return: typeof body.return_date === 'string' ? body.return_date : undefined,
    adults: typeof body.adults === 'number' ? body.adults : 1,
    cabin: text('cabin_class', 'economy'),
    grouped: body.cheapest_per_itinerary === true,
  };
  const found = searchOf(bought);
  await session.recentOffers.remember(found.offers, numberedOffers(found, title.grouped));
  return (screen) => searchLines(found, title, screen);
}

function nextOf(resource: string, answer: unknown, request: unknown): string | null {
  const idIn = (value: unknown): string | null => {
    const id = isRecord(value) ? value.intent_id : null;
    return typeof id === 'string' && /^[\w-]+$/.test(id) ? id : null;
  };
  const id = idIn(answer) ?? idIn(request);
  if (resource === 'POST /air/intents' && id) return `farelock intent show ${quoted(id)}`;
  return resource === 'POST /air/book' && id ? `farelock status ${quoted(id)} --watch` : null;
}
