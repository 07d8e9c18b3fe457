import { mayBePaid, refusal, type Spending } from '../../../client/base/index.ts';
import type { Watch, WatchTerms } from '../../../client/journal/index.ts';
import { DAY_MS, HOUR_MS, instant, MINUTE_MS } from '../../../kernel/clock.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { counted, dayName } from '../../../terminal/index.ts';
import type { SearchRequestInput } from '../../../wire/flights/index.ts';
import { dateOption } from '../../searching/index.ts';
import { spenderOf } from '../../session/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { filterWords } from '../../view/flights/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { filtersOf, loadPrice, searchRequestOf, understood } from '../search/index.ts';
import { follow } from './follow.ts';
import { waysOf } from './notices.ts';
import type * as spec from './spec.ts';
import { factsOf, historyView, looksOf, watchesView } from './view.ts';

type Given = OptionsOf<typeof spec.watch>;

const LEAST_MS = 5 * MINUTE_MS;
const MOST_MS = 7 * DAY_MS;

/** Watches a route or an offer once the person has agreed to the budget. Exit 0 below the threshold, else 8. */
export const watch: Run<typeof spec.watch> = async (context, given) => {
  const { session, terminal, globals } = context;
  const subject = given.to === undefined ? offerOf(context, given) : await routeOf(context, given, given.to);
  const everyMs = given.every ?? (given.to === undefined ? 15 * MINUTE_MS : 4 * HOUR_MS);
  if (everyMs < LEAST_MS || everyMs > MOST_MS) {
    throw problem('usage', { message: '--every must be 5m to 168h.', fix: 'Choose another pause between looks.' });
  }
  const untilMs = await endOf(context, given, subject.lastDay);
  const notify = waysOf(given.notify, context.folder);
  const price = await subject.price();
  const budget = budgetOf(context, { everyMs, untilMs, price, daily: given.daily });
  const below = given.below;
  const facts = {
    request: subject.request,
    below: formatUsdc(below),
    looks_a_day: budget.looks,
    price: formatUsdc(price),
    daily: formatUsdc(budget.daily),
    last_day: lastDayOf(untilMs),
    at_most: formatUsdc(budget.total),
  };
  const said = `Watch ${subject.title}, ${budget.text}.`;
  const fall = `Below ${facts.below} USD it ends${notify.length > 0 ? ` and tells ${notify.join(', ')}` : ''}.`;
  if (globals.dryRun) return printPlan(terminal, [said, fall], facts);
  terminal.settle();
  for (const line of [said, fall]) terminal.note(line);
  await agree(context, budget);
  const terms: WatchTerms = {
    ...{ request: subject.request, title: subject.title, everyMs, untilMs, notify },
    below: Number(below),
    perLook: Number(budget.perLook),
    perDay: Number(budget.daily),
  };
  const watches = await (await session.store()).watches();
  return follow(context, watches, await watches.add(session.baseUrl, terms));
};

async function routeOf(context: CommandContext, given: Given, to: string) {
  if (given.depart === undefined) {
    throw problem('usage', { message: 'A route needs --depart.', fix: 'Add the day: --depart 2026-12-20.' });
  }
  const options = await understood(context, { ...given, to, depart: given.depart });
  const request = searchRequestOf({ ...options, limit: 1, wait: false });
  const back = options.return === undefined ? '' : ` – ${dayName(options.return)}`;
  const filters = filterWords(filtersOf(options)).join(' ');
  return {
    title: `${options.from} → ${options.to}, ${dayName(options.depart)}${back}${filters === '' ? '' : `, ${filters}`}`,
    request: request as SearchRequestInput & Record<string, unknown>,
    lastDay: options.depart,
    price: async () => (await loadPrice()).searchPrice(context, request),
  };
}

function offerOf(context: CommandContext, given: Given) {
  if (given.depart !== undefined) {
    throw problem('usage', { message: 'A route needs two places.', fix: 'Add the destination, such as BER.' });
  }
  const { session, signal, clock } = context;
  const offerId = session.recentOffers.resolve(given.from);
  const journey = session.recentOffers.journey(offerId);
  const about = journey?.route ? ` ${journey.route.replace('-', ' → ')}, ${dayName(journey.departureDate ?? '')}` : '';
  return {
    title: about === '' ? `Offer ${offerId}` : `Offer${about}`,
    request: { offer_id: offerId } as Record<string, unknown>,
    lastDay: lastDayOf(clock.now() + DAY_MS),
    price: async () =>
      (await loadPrice()).callPrice(context, 'Asking what a look costs', (flights) =>
        flights.offerDetails(offerId, { signal }),
      ),
  };
}

/** The end of the last day, UTC. */
async function endOf(context: CommandContext, { until }: Given, lastDay: string): Promise<number> {
  const day = until === undefined ? lastDay : await dateOption(context, '--until', until);
  if (day > lastDay) {
    throw problem('usage', {
      message: `--until ${day} is after the last day that can be watched.`,
      fix: `Choose ${lastDay} or earlier.`,
    });
  }
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}

const lastDayOf = (untilMs: number): string => instant(untilMs - 1).slice(0, 10);

interface Budget {
  readonly looks: number;
  readonly perLook: bigint;
  readonly daily: bigint;
  readonly total: bigint;
  readonly text: string;
}

/** @throws Problem `usage` for a budget that does not pay for its looks */
function budgetOf(
  { clock, terminal: { usdc } }: CommandContext,
  given: { everyMs: number; untilMs: number; price: bigint; daily: bigint | undefined },
): Budget {
  const { everyMs, untilMs, price } = given;
  const looks = Math.max(1, Math.floor(DAY_MS / everyMs));
  const daily = given.daily ?? price * BigInt(looks);
  // A look that costs more is left out, so that the budget lasts for a whole day.
  const perLook = daily / BigInt(looks);
  if (perLook < price) {
    const hours = price === 0n ? 0 : Math.ceil(24 / Number(daily / price || 1n));
    throw problem('usage', {
      message: (amount) =>
        `${counted(looks, 'look')} a day of ${amount(price)} cost ${formatUsdc(price * BigInt(looks))}; --daily allows ${formatUsdc(daily)}.`,
      fix: `Use --daily ${formatUsdc(price * BigInt(looks))}${daily < price ? '' : `, or --every ${hours}h`}.`,
    });
  }
  const most = BigInt(Math.max(0, Math.floor((untilMs - clock.now()) / everyMs)) + 1);
  const total = most * perLook;
  const text = `${counted(looks, 'look')} a day of ${usdc(price)}, at most ${usdc(daily)} a day, until ${dayName(lastDayOf(untilMs))}; at most ${usdc(total)} in all`;
  return { looks, perLook, daily, total, text };
}

/** @throws Problem `payment_declined`, and those of the limits */
async function agree(context: CommandContext, { daily, perLook }: Budget): Promise<void> {
  const { terminal, globals, session } = context;
  const spender = spenderOf(context, session.profile);
  const spending: Spending = {
    ...{ kind: 'call', amount: daily, each: perLook },
    spent: await (await loadPrice()).spentOrMissing(context, daily),
  };
  const verdict = mayBePaid(spending, spender);
  if (verdict.act === 'refuse') throw refusal(spending, spender, verdict.why);
  if (globals.yes === true || globals.maxPayment !== undefined) return;
  const question = `Pay up to ${terminal.usdc(daily)} a day?`;
  if (!(await terminal.ask('--yes').confirm(question, true))) throw problem('payment_declined');
}

export const watchResume: Run<typeof spec.watchResume> = async (context, { watchId }) => {
  const { watches, found } = await watchMeant(context, watchId);
  if (found.state === 'ended') {
    throw problem('conflict', {
      message: `The watch of ${found.title} has ended.`,
      fix: 'Start another one.',
      next: [farelock`watch history ${found.watchId}`],
    });
  }
  if (found.baseUrl !== context.session.baseUrl) {
    throw problem('usage', {
      message: `This watch is of ${found.baseUrl}.`,
      fix: 'Choose its profile with --profile.',
    });
  }
  return follow(context, watches, found.watchId);
};

export const watchList: Run<typeof spec.watchList> = async ({ session, terminal, clock }) => {
  const watches = await (await session.store()).watches();
  const all = await Promise.all(
    (await watches.all()).map(async (one) => factsOf(one, await watches.looks(one.watchId))),
  );
  terminal.result({ watches: all }, watchesView(clock.now()));
  if (all.length > 0) terminal.aside(['', ...nextLines(farelock`watch history ${all[0]?.watch_id ?? ''}`)]);
  return 0;
};

export const watchHistory: Run<typeof spec.watchHistory> = async (context, { watchId }) => {
  const { watches, found } = await watchMeant(context, watchId, true);
  const looks = await watches.looks(found.watchId);
  const document = { ...factsOf(found, looks), looks: looksOf(found, looks, await watches.notices(found.watchId)) };
  context.terminal.result(document, historyView);
  return 0;
};

export const watchEnd: Run<typeof spec.watchEnd> = async (context, { watchId }) => {
  const { watches, found } = await watchMeant(context, watchId);
  const { terminal, globals } = context;
  if (globals.dryRun) return printPlan(terminal, [`End the watch of ${found.title}.`], { watch_id: found.watchId });
  await watches.end(found.watchId);
  const ended: Watch = { ...found, state: 'ended' };
  terminal.result(factsOf(ended, await watches.looks(found.watchId)), {
    lines: () => [`✓ Ended the watch of ${ended.title}.`],
  });
  return 0;
};

/** The named watch, or the newest that has not ended. @throws Problem `not_found` */
async function watchMeant({ session }: CommandContext, watchId: string | undefined, mayHaveEnded = false) {
  const watches = await (await session.store()).watches();
  if (watchId !== undefined) return { watches, found: await watches.find(watchId) };
  const all = await watches.all();
  const found = all.find(({ state }) => state !== 'ended') ?? (mayHaveEnded ? all[0] : undefined);
  if (!found) {
    throw problem('not_found', {
      message: 'There is no watch that has not ended.',
      fix: 'Start one, or list all.',
      next: [farelock`watch list`, farelock`help watch`],
    });
  }
  return { watches, found };
}
