import type { NotedIntent } from '../../client/journal/index.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { farelock, type NextStep } from '../../kernel/shell-word.ts';
import { harmless } from '../../terminal/index.ts';
import type { Intent } from '../../wire/flights/index.ts';
import { intentsNow, notesOf } from '../session/index.ts';
import type { CommandContext } from '../spec/index.ts';
import { fareText, isRefundOpen, moneyStage } from '../view/flights/index.ts';

/**
 * The intent of a command that names none: the only one to pay or follow (`open`), the only one to refund (`booked`),
 * the newest (`newest`, or `shown` if the command itself shows it), or the newest with an order.
 */
type Alone = 'open' | 'booked' | 'newest' | 'shown' | 'order';

/**
 * Finds the intent of a command line: by its id, by its row in the last list here or, if nothing is given, the only or
 * the newest one. Says which one it is, unless its id was given.
 * @throws Problem `usage` if several are possible, `intent_not_found`, `offer_not_found`
 */
export async function intentMeant(context: CommandContext, given: string | undefined, alone: Alone): Promise<string> {
  const { session, terminal, streams, allowance } = context;
  if (given === undefined && allowance) {
    throw problem('usage', { message: 'Name the intent by its id.', next: [farelock`intent list`] });
  }
  const row = given === undefined ? null : session.recentOffers.row(given);
  if (given !== undefined && row === null) {
    session.meant.intentId = given;
    return given;
  }
  const noted = row ? await notedOf(context, row) : await aloneOf(context, alone);
  if (!noted) throw notLocked(given ?? '');
  session.meant.intentId = noted.intentId;
  const fare = harmless(fareText(notesOf(noted), terminal.usdc));
  const said = fare && streams.stdout.isTTY ? fare : `${fare}  ${noted.intentId}`.trimStart();
  // Before a payment it is shown under --quiet too.
  if (alone === 'open') terminal.review([said]);
  else if (alone !== 'shown') terminal.note(said);
  return noted.intentId;
}

/** The flights and the fare of an intent, as far as this home knows them. */
export const fareNoted = async ({ session, terminal }: CommandContext, intent: Intent): Promise<string> =>
  terminal.settings.json
    ? ''
    : fareText(notesOf(await (await session.store()).intent(intent.intent_id)), terminal.usdc, intent);

type Row = NonNullable<ReturnType<CommandContext['session']['recentOffers']['row']>>;

/** The newest intent that a row of a list leads to. */
async function notedOf({ session }: CommandContext, row: Row): Promise<NotedIntent | undefined> {
  const store = await session.store();
  return 'intentId' in row ? store.intent(row.intentId) : store.notedOf({ by: 'offer', is: row.offerIds });
}

const notLocked = (given: string) =>
  problem('intent_not_found', {
    message: `Row ${given} of your list is not locked.`,
    fix: 'Lock it first.',
    next: [farelock`intent ${given}`],
  });

/** An offer is locked for hours at most: an older unpaid lock has ended by then. */
const OPEN_MS = 3 * DAY_MS;
const MOST = 20;

/** Asks the service for the unpaid locks of this home and its bookings under way. */
export async function openIntents(context: CommandContext, most: number): Promise<[NotedIntent, Intent][]> {
  const { session, clock } = context;
  const store = await session.store();
  const noted = await store.noted({ baseUrl: session.baseUrl, open: true, sinceMs: clock.now() - OPEN_MS, limit: 50 });
  const open: [NotedIntent, Intent][] = [];
  const candidates = noted.filter((one) => mayBeOpen(one, clock.now() - DAY_MS));
  if (candidates.length === 0) return open;
  await session.work();
  for await (const [one, intent] of intentsNow(context, candidates)) {
    if (OPEN.includes(moneyStage(intent, clock.now()))) open.push([one, intent]);
    if (open.length === most) break;
  }
  return open;
}

const OPEN = ['unpaid', 'ticketing', 'capturing', 'review', 'refunding'];

const mayBeOpen = (noted: NotedIntent, sinceMs: number): boolean => {
  const { status, expires_at: expiresAt } = notesOf(noted);
  return status === 'active' && Date.parse(expiresAt ?? '') > sinceMs;
};

/** Asks the service for the bookings of this home without an open refund request. */
async function bookedIntents(context: CommandContext): Promise<NotedIntent[]> {
  const { session } = context;
  const store = await session.store();
  const noted = await store.noted({ baseUrl: session.baseUrl, limit: MOST });
  const booked: NotedIntent[] = [];
  for await (const [one, intent] of intentsNow(
    context,
    noted.filter((each) => notesOf(each).status !== 'refunded'),
  )) {
    if (intent.status === 'booked' && !isRefundOpen(intent)) booked.push(one);
  }
  return booked;
}

async function aloneOf(context: CommandContext, alone: Alone): Promise<NotedIntent> {
  const { session, terminal, globals } = context;
  if (alone !== 'open' && alone !== 'booked') {
    const { baseUrl } = session;
    const newest = newestIn(await (await session.store()).noted({ baseUrl, limit: MOST }), alone);
    if (newest) return newest;
    throw nothingLocked('No fare was locked from here.');
  }
  const found =
    alone === 'open' ? (await openIntents(context, MOST)).map(([noted]) => noted) : await bookedIntents(context);
  const [only] = found;
  if (!only) throw alone === 'open' ? nothingLocked('No locked fare is waiting to be booked.') : nothingBooked();
  const isAgreed = globals.yes === true || alone === 'booked';
  // A person sees the lock before paying it; --yes pays only a lock that this terminal has shown.
  if (found.length === 1 && (session.recentOffers.hasSeen(only.intentId) || !isAgreed)) return only;
  terminal.review(
    found.map((one, index) => `${index + 1}  ${harmless(fareText(notesOf(one), terminal.usdc))}  ${one.intentId}`),
  );
  session.recentOffers.rememberIntents(found.map(({ intentId }) => intentId));
  throw problem('usage', {
    message: found.length === 1 ? 'It was not locked in this terminal.' : `There are ${found.length}: say which.`,
    fix: 'Give its number or its id.',
    charged: 'nothing',
    next: [farelock`${alone === 'open' ? 'book' : ['refund', 'request']} 1`],
    detail: { intent_ids: found.map(({ intentId }) => intentId) },
  });
}

const newestIn = (noted: readonly NotedIntent[], alone: Alone): NotedIntent | undefined =>
  (alone === 'order' && noted.find((one) => notesOf(one).order_id !== undefined)) || noted[0];

const nothingLocked = (message: string) =>
  problem('intent_not_found', { message, fix: 'Search, then lock a fare.', next: [farelock`help search`] });

const nothingBooked = () =>
  problem('intent_not_found', {
    message: 'Nothing is booked.',
    fix: 'Lock a fare, then book it.',
    next: [farelock`intent list`],
  });

/** The option for the passengers in a command to copy, where no questions are asked. */
export const passengersAsked = ({ terminal }: Pick<CommandContext, 'terminal'>): string[] =>
  terminal.canAsk ? [] : ['--passengers', 'passengers.json'];

const ALONE: Readonly<Record<string, Alone>> = { book: 'open', 'refund request': 'booked', order: 'order' };

/** The shortest command for an intent that works in this terminal; off a terminal and under --json with the id. */
export async function intentCommand(
  context: CommandContext,
  words: string,
  intent: Pick<Intent, 'intent_id' | 'offer_id'>,
  more: readonly string[] = [],
): Promise<NextStep & { readonly argv: readonly string[] }> {
  const { session, streams, terminal, clock } = context;
  const of = (id: readonly string[]) => ({ argv: [...words.split(' '), ...id, ...more] });
  if (!streams.stdout.isTTY || terminal.settings.json) return of([intent.intent_id]);
  const alone = ALONE[words] ?? 'newest';
  const store = await session.store();
  const noted = await store.noted({ baseUrl: session.baseUrl, limit: MOST, open: alone === 'open' });
  const possible =
    alone === 'open'
      ? noted.filter((one) => mayBeOpen(one, clock.now()))
      : alone === 'booked'
        ? noted.filter((one) => notesOf(one).status === 'booked')
        : [newestIn(noted, alone)];
  if (possible.length === 1 && possible[0]?.intentId === intent.intent_id) return of([]);
  const number = session.recentOffers.numberOf(intent);
  const row = number && session.recentOffers.row(number);
  // The row may lead to a newer lock of the same offer.
  const leadsHere = row && (await notedOf(context, row))?.intentId === intent.intent_id;
  return of([leadsHere ? number : intent.intent_id]);
}
