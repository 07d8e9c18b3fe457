import { loadAnswerRules, loadNormalise } from '../../../client/base/index.ts';
import type { ClientStore, SignedPayment } from '../../../client/journal/index.ts';
import { loadResume, type PaidAnswer, receiptOf, unreadableIn } from '../../../client/payer/index.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { farelock, type NextStep } from '../../../kernel/shell-word.ts';
import { harmlessDocument, isRecord, type Screen } from '../../../terminal/index.ts';
import { intentCommand, isOwn, passengersAsked, standingOf } from '../../paying/index.ts';
import { besides, noteIntent, shortOf } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { loadFlightsSearch, loadOffer, loadStatus } from '../../view/flights/index.ts';
import { lockCommand, nextLines, offerCommand, printPlan } from '../../view/index.ts';
import { unknownPayment } from './run.ts';
import type * as spec from './spec.ts';

/** Sends an unanswered payment again, and shows its answer. Signs nothing new. */
export const paymentsResume: Run<typeof spec.paymentsResume> = async (context, { paymentId }) => {
  const { terminal, session, clock, globals, signal } = context;
  const store = await session.store();
  const signed = await store.signedPayment(paymentId);
  if (!signed) throw unknownPayment(paymentId);
  if (globals.dryRun) {
    const { amount, resource, host } = signed.record;
    return printPlan(terminal, [
      (usdc) => `Send the signed payment of ${usdc(amount)} for ${resource} to ${host} again.`,
    ]);
  }
  const { resumePayment } = await loadResume();
  session.paidHere.note(paymentId);
  terminal.phase('Sending the payment again');
  const answer = await resumePayment(
    {
      journal: store,
      cluster: session.cluster,
      clock,
      fetch: await session.transport(),
      baseUrl: session.baseUrl,
      neverLanded: session.neverLanded,
      warn: terminal.note,
      headersOf: (request) => headersOf(store, request),
    },
    signed,
    { timeoutMs: globals.timeout ?? 30_000, signal },
    { signal },
  ).catch((error: unknown) => keptAsItCame(context, paymentId, error));
  const payment = await store.payment(paymentId);
  const bought = answer?.payment ? await boughtBy(context, signed, answer) : NOTHING;
  terminal.result(
    { payment, answer: answer?.body ?? null },
    {
      lines: (_document, screen) => [
        ...(bought.lines ? [...bought.lines(screen), ''] : []),
        answer?.payment
          ? `${screen.paint.good('✓')} Paid ${screen.paint.usdc(answer.payment.amount)} for ${signed.record.resource}`
          : answer
            ? 'Still being processed: resume it again in a moment.'
            : 'It has expired: it can no longer go through, and the service says it took nothing.',
      ],
    },
  );
  if (bought.next) terminal.aside(nextLines(bought.next));
  return 0;
};

/** Returns an unreadable answer as it came, from the journal; rethrows other errors. */
async function keptAsItCame({ session }: CommandContext, paymentId: string, error: unknown): Promise<PaidAnswer> {
  const signed = isProblem(error, 'answer_unreadable')
    ? await (await session.store()).signedPayment(paymentId)
    : undefined;
  const answer = signed?.payment.answer;
  if (!signed || !answer) throw error;
  return { body: answer.body, payment: receiptOf(signed.payment, answer.transaction), isKept: true };
}

type Bought = { readonly lines: ((screen: Screen) => readonly string[]) | null; readonly next: NextStep | null };

const NOTHING: Bought = { lines: null, next: null };

/** Describes a paid answer, which no longer exists anywhere else. Shows an unreadable answer as it came. */
async function boughtBy(
  context: CommandContext,
  { record, request }: SignedPayment,
  answer: PaidAnswer,
): Promise<Bought> {
  const body: unknown = harmlessDocument(answer.body);
  const { answerRules } = await loadAnswerRules();
  const rules = answerRules({ resource: record.resource, body: request.body }, request.baseUrl);
  if (rules.keepsAnswer !== false && unreadableIn(rules, body) !== null) {
    const text = JSON.stringify(body, null, 2);
    return { lines: () => ['The answer cannot be read. It was:', ...text.split('\n')], next: null };
  }
  if (record.resource.startsWith('GET /air/orders/')) {
    const [{ orderOf }, { orderLines }] = await Promise.all([loadNormalise(), loadOffer()]);
    return { lines: (screen) => orderLines(orderOf(body), screen), next: null };
  }
  switch (record.resource) {
    case 'POST /air/search':
      return foundOffers(context, request.body, body);
    case 'POST /air/offer-details':
      return openedOffer(context, body);
    case 'POST /air/intents':
      return createdIntent(context, body);
    case 'POST /air/book':
      return { lines: null, next: statusOf(request.body, ['--watch']) };
    case 'POST /air/refund-requests':
      return { lines: () => ['A refund has been requested.'], next: statusOf(request.body, []) };
    default:
      return NOTHING;
  }
}

async function foundOffers(context: CommandContext, request: unknown, body: unknown): Promise<Bought> {
  const { session } = context;
  const [{ searchOf }, { numberedOffers, searchLines }] = await Promise.all([loadNormalise(), loadFlightsSearch()]);
  const asked = isRecord(request) ? request : {};
  const text = (name: string, usual: string): string => {
    const value = asked[name];
    return typeof value === 'string' ? value : usual;
  };
  const [there, ...further] = slicesIn(asked);
  const title = {
    from: there?.origin ?? text('origin_iata', '–'),
    to: there?.destination ?? text('destination_iata', '–'),
    depart: there?.departure_date ?? text('depart_date', '–'),
    return: typeof asked.return_date === 'string' ? asked.return_date : undefined,
    ...(further.length > 0 && { onward: further }),
    adults: typeof asked.adults === 'number' ? asked.adults : 1,
    ...(Array.isArray(asked.child_ages) && { childAges: asked.child_ages.map(Number) }),
    cabin: text('cabin_class', 'economy'),
    grouped: asked.cheapest_per_itinerary === true,
    sort: text('sort', 'price'),
  };
  const found = searchOf(body);
  await session.recentOffers.remember(found.offers, numberedOffers(found, title.grouped));
  const [first] = found.offers;
  return {
    lines: (screen) => searchLines(found, title, screen),
    next: first ? offerCommand(first.offer_id, shortOf(context, first.offer_id)) : null,
  };
}

/** The flights in the request of a multi-city search; empty for other searches. */
const slicesIn = ({ slices }: Readonly<Record<string, unknown>>) =>
  (Array.isArray(slices) ? slices.filter(isRecord) : []).map(({ origin, destination, departure_date }) => ({
    origin: String(origin),
    destination: String(destination),
    departure_date: String(departure_date),
  }));

async function openedOffer(context: CommandContext, body: unknown): Promise<Bought> {
  const { session, clock } = context;
  const [{ offerDetailsOf }, { offerLines }] = await Promise.all([loadNormalise(), loadOffer()]);
  const details = offerDetailsOf(body);
  const { offer, fare_menu: menu } = details;
  const numbers = menu ? await session.recentOffers.rememberMenu(offer, menu.fares) : {};
  return {
    lines: (screen) => offerLines(details, numbers, clock.now(), screen),
    next: lockCommand(shortOf(context, menu?.fares[0]?.offer_id ?? offer.offer_id)),
  };
}

/** Remembers the journey, as after creating an intent. The support code is already remembered. */
async function createdIntent(context: CommandContext, body: unknown): Promise<Bought> {
  const { session, clock } = context;
  const [{ createdIntentOf }, { createdIntentLines }] = await Promise.all([loadNormalise(), loadStatus()]);
  const intent = createdIntentOf(body);
  const journey = session.recentOffers.journey(intent.offer_id);
  await besides(context, noteIntent(await session.store(), intent, journey));
  session.recentOffers.rememberIntent(intent.intent_id);
  const fare = journey?.fare ?? null;
  const canPay = isOwn(await standingOf(session, intent)) && Date.parse(intent.expires_at) > clock.now();
  return {
    lines: (screen) => createdIntentLines(intent, fare, clock.now(), screen),
    next: canPay
      ? await intentCommand(context, 'book', intent, passengersAsked(context))
      : await intentCommand(context, 'status', intent),
  };
}

function statusOf(request: unknown, how: readonly string[]): NextStep | null {
  const id = isRecord(request) ? request.intent_id : null;
  return typeof id === 'string' && /^[\w-]+$/.test(id) ? farelock`status ${id} ${how}` : null;
}

/**
 * Makes the headers of a request from the remembered intent, for a payment from before headers were kept. If they
 * differ from the original ones, the service refuses, and charges nothing more.
 */
export async function headersOf(
  store: ClientStore,
  { resource, body }: SignedPayment['request'],
): Promise<Record<string, string>> {
  if (resource !== 'POST /air/refund-requests') return {};
  const id = (body as { intent_id?: unknown } | null)?.intent_id;
  if (typeof id !== 'string') return {};
  const intent = await store.intent(id);
  const familyName = await store.leadOf(id);
  if (!intent || familyName === null) return {};
  return {
    'X-Customer-Support-Code': intent.supportCode,
    'X-Passenger-Family-Name': Buffer.from(familyName, 'utf8').toString('latin1'),
  };
}
