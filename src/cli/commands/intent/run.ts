import type { NotedIntent } from '../../../client/journal/index.ts';
import { listView, utcTime } from '../../../terminal/index.ts';
import {
  intentCommand,
  intentMeant,
  intentOrChain,
  isFromChain,
  isOwn,
  NOT_FROM_HERE,
  passengersAsked,
  showFromChain,
  standingOf,
} from '../../paying/index.ts';
import { intentsNow, notesOf } from '../../session/index.ts';
import type { Run } from '../../spec/index.ts';
import { intentLines, moneyStage } from '../../view/flights/index.ts';
import { nextLines } from '../../view/index.ts';
import type { ListedIntent } from './result.ts';
import type * as spec from './spec.ts';

/** Shows the intent from the service, or the escrow on chain while the service does not answer. */
export const intentShow: Run<typeof spec.intentShow> = async (context, { intentId: given }) => {
  const { terminal, session, clock } = context;
  await session.work();
  const intentId = await intentMeant(context, given, 'shown');
  const intent = await intentOrChain(context, intentId);
  if (isFromChain(intent)) return showFromChain(context, intent);
  terminal.result(intent, { lines: (shown, screen) => intentLines(shown, clock.now(), screen) });
  const stage = moneyStage(intent, clock.now());
  const standing = await standingOf(session, intent);
  if (!standing.isFromHere) terminal.note(`${NOT_FROM_HERE}.`);
  for (const said of standing.disagreements) terminal.note(`${said}.`);
  if (stage === 'unpaid') {
    const next = isOwn(standing)
      ? await intentCommand(context, 'book', intent, passengersAsked(context))
      : await intentCommand(context, 'status', intent, ['--verify']);
    terminal.aside(['', ...nextLines(next)]);
  }
  if (stage === 'captured') terminal.aside(['', ...nextLines(await intentCommand(context, 'order', intent))]);
  return 0;
};

const MOST_REFRESHED = 20;

/** First asks the service about the intents that have not ended. */
export const intentList: Run<typeof spec.intentList> = async (context, { limit }) => {
  const { terminal, session } = context;
  await session.work();
  const store = await session.store();
  const open = await store.noted({ baseUrl: session.baseUrl, open: true, limit: MOST_REFRESHED });
  // This updates the notes that the list shows.
  for await (const _refreshed of intentsNow(context, open));
  const noted = await store.noted({ baseUrl: session.baseUrl, limit });
  terminal.result({ intents: noted.map(listed) }, intentsView);
  session.recentOffers.rememberIntents(noted.map(({ intentId }) => intentId));
  if (noted.length === limit) terminal.note(`The newest ${limit}; --limit shows more.`);
  return 0;
};

function listed(noted: NotedIntent): ListedIntent {
  const { status, offer_id, route, departure_date, amount, order_id, expires_at, passengers, refunded } =
    notesOf(noted);
  return {
    intent_id: noted.intentId,
    status: status ?? null,
    offer_id: offer_id ?? null,
    route: route ?? null,
    departure_date: departure_date ?? null,
    amount: amount ?? null,
    order_id: order_id ?? null,
    created_at: noted.createdAt,
    expires_at: expires_at ?? null,
    ...(passengers && { passenger_count: Number(passengers), refunded_count: Number(refunded ?? 0) }),
  };
}

const bookedText = ({ passenger_count: count = 1, refunded_count: gone = 0 }: ListedIntent): string =>
  gone === 0 ? 'booked' : `booked, ${count - gone} of ${count} fly`;

const intentsView = listView('intents', {
  none: 'No fares locked from here.',
  columns: ({ paint, width }, intents) => [
    { title: '#', align: 'right', cell: (one) => String(intents.indexOf(one) + 1) },
    { title: 'Intent', rank: 1, cell: (one) => one.intent_id },
    { title: 'Status', cell: (one) => (one.status === 'booked' ? paint.good(bookedText(one)) : (one.status ?? '–')) },
    {
      title: 'Route',
      cell: ({ route, departure_date: date }) => (route ? `${route.replace('-', ' → ')} ${date ?? ''}`.trimEnd() : '–'),
    },
    { title: 'USDC', align: 'right', cell: ({ amount }) => amount ?? '–' },
    ...(width >= 100 ? [{ title: 'Created', cell: (one: ListedIntent) => utcTime(one.created_at) }] : []),
  ],
  row: (one: ListedIntent) => [
    one.intent_id,
    one.status,
    one.route,
    one.departure_date,
    one.amount,
    one.created_at,
    one.order_id,
  ],
});
