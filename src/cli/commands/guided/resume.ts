import { DAY_MS } from '../../../kernel/clock.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { quoted } from '../../../kernel/shell-word.ts';
import { fromNow, harmless } from '../../../terminal/index.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { noteIntent, notesOf } from '../../session/index.ts';
import { moneyStage, usdc } from '../../view/flights/index.ts';
import { book } from '../book/index.ts';
import { showOrder } from './review.ts';
import { type Step, said, type Walk } from './walk.ts';

const MOST_OFFERED = 5;
/** A lock lasts hours at most: what was made before has ended a day ago. */
const MADE_MS = 3 * DAY_MS;
const MOST_LOOKED_AT = 50;

interface Unfinished {
  readonly intent: Intent;
  readonly route: string;
  readonly isUnderWay: boolean;
}

/** Offers to go on with unfinished journeys first: a fare that is locked and not paid, a booking that is under way. */
export const resumeStep: Step = async (walk) => {
  const { context, ask, trip } = walk;
  const unfinished = await unfinishedOf(walk);
  if (unfinished.length === 0) return 'from';
  const answer = await ask.choose<Unfinished | null>({
    message: 'Continue where you left off?',
    lines: [
      ...unfinished.map((one) => ({ name: unfinishedText(one, context.clock.now()), value: one })),
      { name: 'Start a new search', value: null },
    ],
  });
  if (answer.kind === 'back') return 'back';
  if (answer.value === null) return 'from';
  const { intent, route, isUnderWay } = answer.value;
  said(walk, 'Continuing', intent.intent_id, `farelock status ${quoted(intent.intent_id)}`);
  if (!isUnderWay) {
    trip.intent = intent;
    trip.journey = route;
    trip.offer = null;
    trip.adults = intent.passenger_count;
    return 'passengers';
  }
  trip.booking = { intent, isBooked: false };
  const code = await book(context, { intentId: intent.intent_id, wait: true });
  return code === 0 ? showOrder(walk, intent) : code;
};

async function unfinishedOf({ context }: Walk): Promise<Unfinished[]> {
  const { session, signal, clock } = context;
  const store = await session.store();
  const noted = await store.noted({
    baseUrl: session.baseUrl,
    open: true,
    sinceMs: clock.now() - MADE_MS,
    limit: MOST_LOOKED_AT,
  });
  const open = noted.filter((one) => {
    const { status, expires_at: expiresAt } = notesOf(one);
    // An older one was never paid, or has ended by now.
    return status === 'active' && Date.parse(expiresAt ?? '') > clock.now() - DAY_MS;
  });
  if (open.length === 0) return [];
  await session.work();
  const flights = await session.flights();
  const unfinished: Unfinished[] = [];
  for (const remembered of open) {
    try {
      const intent = await flights.intent(remembered.intentId, { signal });
      await noteIntent(store, intent);
      const stage = moneyStage(intent, clock.now());
      if (!['unpaid', 'ticketing', 'capturing', 'review', 'refunding'].includes(stage)) continue;
      const { route, departure_date: date } = notesOf(remembered);
      const journey = route === undefined ? intent.intent_id : `${route.replace('-', ' → ')}  ${date ?? ''}`;
      unfinished.push({ intent, route: journey, isUnderWay: stage !== 'unpaid' });
      if (unfinished.length === MOST_OFFERED) break;
    } catch (error) {
      // A service that has forgotten an intent does not hide the others.
      if (!isProblem(error, 'intent_not_found')) throw error;
    }
  }
  return unfinished;
}

const unfinishedText = ({ intent, route, isUnderWay }: Unfinished, nowMs: number): string =>
  harmless(
    isUnderWay
      ? `${route}  ${usdc(intent.escrow.amount)}  paid, being booked`
      : `${route}  ${usdc(intent.escrow.amount)}  lock ends ${fromNow(intent.expires_at, nowMs)}`,
  );
