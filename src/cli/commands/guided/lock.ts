import { isProblem } from '../../../kernel/problems.ts';
import { fromNow, harmlessDocument } from '../../../terminal/index.ts';
import type { Intent } from '../../../wire/flights/index.ts';
import { besides, noteIntent, shortOf } from '../../session/index.ts';
import { createdIntentLines, usdc } from '../../view/flights/index.ts';
import { loadCreate } from '../intent/index.ts';
import { lockCommand, type SameCommand } from './commands.ts';
import { isTurnedDown, sayProblem } from './find.ts';
import { paidCall } from './money.ts';
import { type Step, said, type Walk } from './walk.ts';

/** Locks the fare: opens the escrow. The ticket itself is paid after the review. */
export const lockStep: Step = async (walk) => {
  const { trip, ask } = walk;
  const offerId = trip.offerId;
  if (offerId === null) return 'back';
  const locked = trip.intent?.offer_id === offerId && !hasRunOut(walk, trip.intent) ? trip.intent : null;
  const answer = await ask.choose({
    message: locked
      ? `This fare is locked: ${usdc(locked.escrow.amount)}, expires ${untilText(walk, locked)}.`
      : 'Lock this fare for 0.10 USDC? This opens its escrow; you pay for the ticket after the review.',
    lines: [
      { name: locked ? 'Continue' : 'Lock it', value: true },
      { name: 'Choose another fare', value: false },
    ],
  });
  if (answer.kind === 'back' || !answer.value) return 'back';
  if (locked) return 'passengers';
  try {
    trip.intent = await lock(walk, offerId);
    if (!trip.isPartyKept) trip.party = null;
    said(
      walk,
      'Locked',
      `${usdc(trip.intent.escrow.amount)}, expires ${untilText(walk, trip.intent)}`,
      lockCommand(shortOf(walk.context, offerId)),
    );
    return 'passengers';
  } catch (error) {
    if (!isTurnedDown(error)) throw error;
    await sayProblem(walk, error, sameLock(offerId));
    return 'itinerary';
  }
};

export const sameLock = (offerId: string): SameCommand => ({
  name: 'intent create',
  line: lockCommand(offerId),
  options: { offerId },
});

/** Locks a fare, or finds the intent that has locked it. */
export async function lock(walk: Walk, offerId: string): Promise<Intent> {
  const { session, signal, terminal, clock } = walk.context;
  const { address } = await session.wallet();
  const flights = await session.flights();
  try {
    const { value } = await paidCall(walk, 'the lock', () =>
      flights.createIntent(
        { funding_wallet: address, offer_id: offerId },
        { signal, onPhase: (phase) => terminal.phase(phase === 'paying' ? 'Paying for the lock' : 'Locking the fare') },
      ),
    );
    terminal.settle();
    await besides(walk.context, noteIntent(await session.store(), value, session.recentOffers.journey(offerId)));
    for (const line of createdIntentLines(harmlessDocument(value), clock.now(), terminal.asideScreen)) {
      terminal.note(line);
    }
    await session.paidHere.shown();
    return value;
  } catch (error) {
    if (!isProblem(error, 'intent_already_exists')) throw error;
    // Locked before from here: that one is gone on with, and nobody else's.
    const { existingIntent } = await loadCreate();
    const { own, problem } = await existingIntent(walk.context, error);
    if (own === null) throw problem;
    return own;
  }
}

const untilText = ({ context: { clock } }: Walk, intent: Intent): string => fromNow(intent.expires_at, clock.now());

/** True when the time to book a locked fare is over. */
export const hasRunOut = ({ context: { clock } }: Pick<Walk, 'context'>, intent: Intent): boolean =>
  Date.parse(intent.expires_at) <= clock.now();
