import { metropolitanArea } from '../../../kernel/domain/metropolitan-areas.ts';
import { problem } from '../../../kernel/problems.ts';
import type { SearchResponse } from '../../../wire/flights/index.ts';
import { linkedOf, loadPaidPlan } from '../../paying/index.ts';
import { type ArrivalsEnd, askedBags, bagsIn, loadGathering } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { suitingText } from '../../view/flights/index.ts';
import { costLines, firstOfferLines, withPayment } from '../../view/index.ts';
import {
  filtersOf,
  limitOf,
  loadBirthdays,
  paidSearch,
  searchRequestOf,
  showOffers,
  titleOf,
  understood,
} from './index.ts';
import type * as spec from './spec.ts';

/**
 * Searches, waits for the slower offers, shows the itineraries, and remembers their row numbers for the next commands.
 * Shows the paid answer however the waiting ends.
 */
export const search: Run<typeof spec.search> = async (context, given) => {
  if (given.flex !== undefined || given.cheapestDay) {
    if (askedBags(bagsIn(given)).bags) {
      const message = 'A comparison of days has no prices with bags.';
      throw problem('usage', {
        message,
        fix: 'Leave out --bags and --carry-on, then search the chosen day with them.',
      });
    }
    const { searchByDay } = await import('./days.ts');
    return searchByDay(context, await understood(context, given));
  }
  const { terminal, session, signal, globals, streams } = context;
  const takesCities = !given.ndjson;
  const options = {
    ...(await understood(context, given, takesCities)),
    wait: given.wait ?? globals.json === undefined,
  };
  if (metropolitanArea(options.from) || metropolitanArea(options.to)) {
    const { searchAnyAirport } = await import('./any-airport.ts');
    return searchAnyAirport(context, options);
  }
  if (options.ndjson && globals.json !== undefined) {
    throw problem('usage', { message: 'Use either --json or --ndjson, not both.', fix: 'Leave one of them out.' });
  }
  const request = searchRequestOf(options);
  if (options.childAges) await (await loadBirthdays()).warnOfBirthdays(context, options);
  if (globals.dryRun) {
    const { planPaid } = await loadPaidPlan();
    return planPaid(context, (flights) => flights.search(request, { signal }), {
      after: [`Show the offers${suitingText(filtersOf(options))}.`],
      facts: { request },
    });
  }
  const flights = await session.flights();
  const { value, payment } = await paidSearch(context, flights, request);
  if (options.ndjson) {
    const { streamOffers } = await import('./updates.ts');
    return streamOffers(context, flights, value, payment, request, options.wait);
  }
  const limit = limitOf(options);
  let list: SearchResponse = { ...value, offers: value.offers.slice(0, limit) };
  let ended: ArrivalsEnd = { kind: 'complete' };
  if (options.wait && value.status === 'enriching') {
    const { gatherOffers } = await loadGathering();
    const first = { first: value, request, title: titleOf(options), limit };
    ({ list, ended } = await gatherOffers(context, flights, first));
  }
  await showOffers(context, withPayment(list, payment), options);
  const next = firstOfferLines(list.offers, (id) => shortOf(context, id));
  const byNumber = list.offers.length > 1 && streams.stdout.isTTY ? ['      any other # of the list works, too'] : [];
  terminal.aside(['', ...costLines(payment, linkedOf(context)), ...next, ...byNumber]);
  return sayEnd(context, ended);
};

function sayEnd({ terminal }: CommandContext, ended: ArrivalsEnd): ExitCode {
  if (ended.kind === 'complete') return 0;
  const why = {
    interrupted: 'Interrupted',
    timed_out: 'Timed out',
    failed: ended.kind === 'failed' ? ended.problem.message.replace(/\.$/, '') : '',
  }[ended.kind];
  terminal.note(`${why}: slower offers may be missing from this list.`);
  terminal.note('The search is paid: the numbers above still work. A new one is charged.');
  return ended.kind === 'interrupted' ? 130 : 0;
}
