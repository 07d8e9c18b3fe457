import { join } from 'node:path';
import { freeCall } from '../../../client/base/index.ts';
import { DAY_MS, localDate } from '../../../kernel/clock.ts';
import { namedAirports } from '../../../kernel/domain/airports.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { canDrawLive, counted, harmlessDocument, openLiveSign, type View, wrap } from '../../../terminal/index.ts';
import { parseDate } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';

import { nextLines, offerCommand, printPlan, quoted } from '../../view/index.ts';
import type { DaysTitle } from './days-view.ts';
import { priceBarsView, priceGridView } from './days-view.ts';
import {
  aboutText,
  agreeTotal,
  costFacts,
  costOf,
  costText,
  type DayAnswer,
  dayFound,
  openShares,
  type RisenPrice,
  type SearchesDone,
  searchDays,
  searchPrice,
} from './many-days.ts';
import {
  cheapestDay,
  type DayGrid,
  type DayPrice,
  type DaysDocument,
  flexDays,
  isSameJourney,
  type JourneyDays,
  monthDays,
  openSearchMemory,
  pricesOf,
} from './prices.ts';
import { type SearchOptions, searchRequestOf } from './request.ts';
import type * as spec from './spec.ts';

/**
 * `search --flex <n>` and `search --cheapest-day`: the cheapest price of each day. It is many paid searches: their
 * total is said, and agreed to, before the first one (days/agree.ts). What was found is shown however it ends.
 */
export const searchByDay: Run<typeof spec.search> = async (context, options) => {
  const { session, clock, globals, terminal } = context;
  refuseOthers(options);
  const asked = searchRequestOf({ ...options, limit: 1, wait: false });
  const journey: JourneyDays = { depart_date: asked.depart_date, return_date: asked.return_date ?? null };
  const today = todayAt(asked.origin_iata, clock.now());
  const grid = options.flex === undefined ? monthDays(journey, today) : flexDays(journey, options.flex, today);
  const requestOf = ({ depart_date, return_date }: JourneyDays) => ({
    ...asked,
    depart_date,
    ...(return_date !== null && { return_date }),
  });
  terminal.phase('Asking what a search costs');
  // The days asked for are asked about: what is wrong with them is said before anything is paid.
  const price = await searchPrice(context, requestOf(journey));
  const memory = openSearchMemory<DayAnswer>({
    path: join(session.home, 'recent-prices.json'),
    baseUrl: session.baseUrl,
    clock,
    warn: terminal.note,
    alive: (found, nowMs) => (found.offer === null || Date.parse(found.offer.expires_at) > nowMs ? found : null),
  });
  const known = grid.journeys.flatMap((one): DayPrice[] => {
    const found = memory.find(requestOf(one));
    // A search that did not wait is no answer for one that does.
    return found && (found.isComplete || options.wait === false) ? [dayFound(one, found)] : [];
  });
  const journeys = grid.journeys.filter((one) => !known.some((day) => isSameJourney(day, one)));
  const cost = costOf(journeys.length, price, freeCall(session.profile.limits));
  const title: DaysTitle = {
    adults: options.adults ?? 1,
    cabin: options.cabin ?? 'economy',
    span: spanOf(options, journey),
  };
  const view = options.flex === undefined ? priceBarsView(title) : priceGridView(title);
  if (globals.dryRun) {
    const plan =
      journeys.length === 0 ? 'Pay nothing: every day is known.' : `Pay ${costText(cost, globals.maxPayment)}.`;
    printPlan(terminal, [plan, 'Show the cheapest price of each day.'], {
      request: requestOf(journey),
      ...costFacts(cost, globals.maxPayment),
    });
    return 0;
  }
  terminal.settle();
  if (known.length > 0)
    terminal.note(`${counted(known.length, 'day')} known from the last 10 minutes: not paid again.`);
  const total = journeys.length === 0 ? 0n : await agreeTotal(context, cost);
  const days = new Map(known.map((day) => [keyOf(day), day]));
  const documentNow = (found: Pick<SearchesDone, 'payments'>) =>
    documentOf(options, journey, grid, days, found.payments);
  const shown = showing(context, view, journeys.length);
  let found: SearchesDone;
  try {
    found = await searchDays(context, {
      journeys,
      requestOf,
      flights: (amount) => session.flights({ agreed: { kind: 'call', amount } }),
      shares: openShares(total, journeys.length),
      memory,
      waits: options.wait !== false,
      told({ day, risen }) {
        if (day) days.set(keyOf(day), day);
        shown.draw(documentNow({ payments: [] }), risen);
      },
    });
  } finally {
    await shown.stop();
  }
  return told(context, documentNow(found), found, view);
};

/** Days are sold by the calendar of the origin; this machine's is the next best for an airport that is not known here. */
function todayAt(origin: string, nowMs: number): string {
  const airport = namedAirports().find(({ iata }) => iata === origin);
  return airport ? localDate(nowMs, airport.timeZone) : parseDate('today', nowMs);
}

const note = ({ terminal }: CommandContext, text: string): void => {
  for (const line of wrap(text, terminal.asideScreen.width)) terminal.note(line);
};

const keyOf = (day: JourneyDays): string => `${day.depart_date} ${day.return_date ?? ''}`;

/** Refuses options that a grid has no room for, rather than ignoring them. */
function refuseOthers(options: SearchOptions): void {
  const { flex, sort, limit, allFares, ndjson, cheapestDay: month } = options;
  const wrong = [
    ...(flex !== undefined && month ? ['--flex'] : []),
    ...(sort !== undefined && sort !== 'price' ? ['--sort'] : []),
    ...(limit === undefined ? [] : ['--limit']),
    ...(allFares ? ['--all-fares'] : []),
    ...(ndjson ? ['--ndjson'] : []),
  ];
  if (wrong.length === 0) return;
  throw problem('usage', {
    message: `${month ? '--cheapest-day' : '--flex'} shows one price a day, and cannot be combined with ${wrong.join(', ')}.`,
    fix: 'Leave one of them out.',
  });
}

function spanOf(options: SearchOptions, { depart_date, return_date }: JourneyDays): string {
  if (options.flex !== undefined) return `${counted(options.flex, 'day')} either side`;
  const month = new Date(`${depart_date}T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  if (return_date === null) return month;
  const nights = (Date.parse(return_date) - Date.parse(depart_date)) / DAY_MS;
  return `${month}, ${counted(nights, 'night')}`;
}

function documentOf(
  { from, to }: SearchOptions,
  asked: JourneyDays,
  grid: DayGrid,
  known: ReadonlyMap<string, DayPrice>,
  payments: SearchesDone['payments'],
): DaysDocument {
  const days = grid.journeys
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
    .map((journey): DayPrice => known.get(keyOf(journey)) ?? { ...journey, status: 'not_searched' });
  return {
    origin_iata: from,
    destination_iata: to,
    ...asked,
    departures: grid.departures,
    returns: grid.returns,
    prices: pricesOf(grid, days),
    days,
    cheapest: cheapestDay(days, asked),
    searches: payments.length,
    paid_amount: formatUsdc(payments.reduce((sum, one) => sum + parseUsdc(one.amount), 0n)),
    payments,
  };
}

const WORTH_SAYING_MS = 2_000;

/** The prices as they come in, redrawn in place on a terminal; elsewhere a sign of life. */
function showing(context: CommandContext, view: View<DaysDocument>, searches: number) {
  const { terminal } = context;
  const sign = canDrawLive(context) ? openLiveSign(context) : null;
  let saidAt = '';
  if (searches > 0) terminal.phase(`Searching ${counted(searches, 'day')}`);
  return {
    draw(document: DaysDocument, risen: RisenPrice | undefined) {
      const left = document.days.filter((day) => day.status === 'not_searched').length;
      const known = `${document.days.length - left} of ${counted(document.days.length, 'day')}`;
      const waits = risen && `a search costs ${risen.to} USDC now, continuing in ${aboutText(risen.againMs)}`;
      const said = waits === undefined ? known : `${known} · ${waits}`;
      if (sign) sign.show(view.lines(harmlessDocument(document), terminal.asideScreen), said);
      // One line for each wait, not one for each of the searches that wait.
      else if (risen && risen.againMs > WORTH_SAYING_MS && known !== saidAt) {
        saidAt = known;
        terminal.phase(said);
      }
    },
    stop: async () => {
      await sign?.stop();
      terminal.settle();
    },
  };
}

async function told(
  context: CommandContext,
  document: DaysDocument,
  { payments, stoppedBy }: SearchesDone,
  view: View<DaysDocument>,
): Promise<ExitCode> {
  const { terminal, signal, session } = context;
  const { cheapest, days } = document;
  const isKnown = days.some((day) => day.status === 'found' || day.status === 'none');
  // Nothing to show: why is the whole answer.
  if (!isKnown && signal.aborted) throw signal.reason;
  if (!isKnown && stoppedBy) throw stoppedBy;
  terminal.result(document, view);
  const left = days.filter((day) => day.status === 'not_searched' || day.status === 'failed').length;
  if (signal.aborted || left > 0) {
    const why = signal.aborted ? 'Interrupted: ' : stoppedBy ? `${stoppedBy.message} ` : '';
    note(
      context,
      `${why}${left} of ${counted(days.length, 'day')} not known. The same command within 10 minutes pays only for those.`,
    );
  }
  if (cheapest) {
    const route = `${document.origin_iata}-${document.destination_iata}`;
    session.recentOffers.rememberOne(cheapest.offer_id, { route, departureDate: cheapest.depart_date });
  }
  const again = cheapest && searchCommand(document, cheapest);
  terminal.aside([
    '',
    ...(payments.length > 0
      ? [`Paid ${document.paid_amount} USDC for ${counted(payments.length, 'search', 'searches')}`]
      : []),
    ...(cheapest && again
      ? nextLines(offerCommand(cheapest.offer_id, shortOf(context, cheapest.offer_id)), again)
      : ['Next: try other days, or fewer filters']),
  ]);
  return signal.aborted && !isProblem(signal.reason, 'timed_out') ? 130 : 0;
}

const searchCommand = (document: DaysDocument, day: JourneyDays): string =>
  [
    'farelock search',
    quoted(document.origin_iata),
    quoted(document.destination_iata),
    `--depart ${day.depart_date}`,
    ...(day.return_date === null ? [] : [`--return ${day.return_date}`]),
  ].join(' ');
