import type { Watch, Watches } from '../../../client/journal/index.ts';
import { instant, MINUTE_MS } from '../../../kernel/clock.ts';
import { PRICE_CURRENCY, sortOffers } from '../../../kernel/domain/offers.ts';
import { parseUsdc } from '../../../kernel/money.ts';
import { isProblem, type ProblemCode, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fromTo } from '../../../terminal/index.ts';
import type { Offer, SearchRequestInput } from '../../../wire/flights/index.ts';
import { followArrivals } from '../../searching/index.ts';
import { shortOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { airlineText, stopsText } from '../../view/flights/index.ts';
import { nextLines, offerCommand } from '../../view/index.ts';
import { sendNotices } from './notices.ts';
import { looksOf, lookView } from './view.ts';

/** The clock is read again after this long, since it may jump. */
const STEP_MS = 10 * MINUTE_MS;

/** Nothing was signed: the look is left out, and the watch goes on. */
const LEFT_OUT: readonly ProblemCode[] = ['payment_above_cap', 'daily_limit_reached'];
/** Nothing was signed, and a person has to do something first. */
const ENDS_RUN: readonly ProblemCode[] = [
  'insufficient_funds',
  'host_not_allowed',
  'no_wallet',
  'keypair_unreadable',
  'payment_declined',
];
const GONE: readonly ProblemCode[] = ['offer_not_found', 'offer_expired', 'offer_unavailable', 'invalid_request'];

/**
 * Looks whenever it is time, with a line for each look, until the price falls (exit 0) or the watch is over (exit 8).
 * Several processes may follow one watch: each look is made by one of them.
 */
export async function follow(context: CommandContext, watches: Watches, watchId: string): Promise<ExitCode> {
  const { terminal, clock, signal } = context;
  let { state } = await watches.find(watchId);
  let seen = (await watches.looks(watchId)).at(-1)?.number ?? 0;
  if (state === 'fell') terminal.note('It was below at the last look: looking for the next fall.');
  try {
    for (;;) {
      const watch = await watches.find(watchId);
      await sendNotices(context, watches, watch);
      const claim = await watches.claim(watch);
      if (claim.kind === 'look') await look(context, watches, watch, claim.number);
      const now = await watches.find(watchId);
      seen = await sayLooks(context, watches, now, seen);
      await sendNotices(context, watches, now);
      if (now.state === 'fell' && state !== 'fell') return sayFall(context, watches, now);
      state = now.state;
      if (claim.kind === 'over' || now.state === 'ended') return sayEnd(context, now);
      if (claim.kind !== 'wait') continue;
      terminal.phase(WAITS[claim.why](instant(claim.untilMs).slice(11, 16)));
      await clock.sleep(Math.min(STEP_MS, Math.max(1_000, claim.untilMs - clock.now())), signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw problem(isProblem(signal.reason, 'timed_out') ? 'timed_out' : 'interrupted', {
      message: 'Stopped watching. Nothing is looked at or paid until you go on.',
      fix: 'The budget counts across the pause.',
      next: [farelock`watch resume ${watchId}`],
      cause: error,
    });
  }
}

const WAITS = {
  not_due: (at: string) => `Next look at ${at} UTC`,
  busy: () => 'Another process is looking',
  budget: (at: string) => `The budget of the day is used up; next try at ${at} UTC`,
};

/** Makes a look, and records the result. Gives back a look that was cut off: the same call is not paid twice. */
async function look(context: CommandContext, watches: Watches, watch: Watch, number: number): Promise<void> {
  const { clock, signal, session, terminal } = context;
  const { watchId } = watch;
  try {
    const found = await ask(context, watch);
    await watches.done(watch, number, found);
    await session.paidHere.shown();
  } catch (error) {
    if (signal.aborted) {
      await watches.release(watchId, number);
      throw error;
    }
    if (!isProblem(error)) throw error;
    const { code } = error;
    if (GONE.includes(code)) {
      await watches.failed(watchId, number, error.message, 0);
      await watches.end(watchId);
    } else if (LEFT_OUT.includes(code) || ENDS_RUN.includes(code)) {
      await watches.failed(watchId, number, error.message, 0);
      if (ENDS_RUN.includes(code)) throw error;
    } else if (error.kind.retryable === true || error.kind.exit === 6) {
      // For example, a payment came too late because the machine slept: the same call goes on with it.
      terminal.note(`${error.message} The look is made again in a minute.`);
      await watches.release(watchId, number, clock.now() + MINUTE_MS);
    } else {
      await watches.failed(watchId, number, error.message, null);
      throw error;
    }
  }
}

async function ask(context: CommandContext, { request, perLook }: Watch) {
  const { session, signal, terminal } = context;
  const flights = await session.flights({ agreed: { kind: 'call', amount: BigInt(perLook) } });
  terminal.phase('Looking');
  if (typeof request.offer_id === 'string') {
    const { value, payment } = await flights.offerDetails(request.offer_id, { signal });
    return foundOf([value.offer], payment?.amount);
  }
  const { value, payment } = await flights.search(request as unknown as SearchRequestInput, { signal });
  const landed: Offer[] = [];
  await followArrivals(context, flights, value, (offers) => landed.push(...offers));
  signal.throwIfAborted();
  return foundOf([...value.offers, ...landed], payment?.amount);
}

function foundOf(offers: readonly Offer[], amount = '0') {
  const inDollars = offers.filter(({ total_currency }) => total_currency === PRICE_CURRENCY);
  const [cheapest] = sortOffers(inDollars, 'price');
  const paid = Number(parseUsdc(amount));
  if (!cheapest) return { paid, price: null, offerId: null, says: 'No offer in US dollars suits.' };
  const [out] = cheapest.slices;
  const flown = out ? ` ${fromTo(out.departing_at, out.arriving_at)} ${stopsText(out)}` : '';
  const says = `${out ? airlineText(out) : cheapest.owner_name}${flown}`;
  return { paid, price: cheapest.total_amount, offerId: cheapest.offer_id, says };
}

/** Prints a line for each look since the last printed one, whichever process made it. */
async function sayLooks({ terminal }: CommandContext, watches: Watches, watch: Watch, seen: number): Promise<number> {
  const all = looksOf(watch, await watches.looks(watch.watchId), await watches.notices(watch.watchId));
  const fresh = all.filter(({ number, status }) => number > seen && status !== 'begun');
  for (const one of fresh) terminal.event({ watch_id: watch.watchId, ...one }, lookView);
  return fresh.at(-1)?.number ?? seen;
}

async function sayFall(context: CommandContext, watches: Watches, watch: Watch): Promise<ExitCode> {
  const { session, terminal } = context;
  const last = (await watches.looks(watch.watchId)).filter(({ state }) => state === 'done').at(-1);
  const offerId = last?.offer_id ?? null;
  terminal.settle();
  terminal.done(`${watch.title}: below the threshold`);
  if (offerId === null) return 0;
  const { origin_iata: from, destination_iata: to, depart_date } = watch.request;
  if (typeof from === 'string' && typeof depart_date === 'string')
    session.recentOffers.rememberOne(offerId, { route: `${from}-${to}`, departureDate: depart_date });
  terminal.aside(nextLines(offerCommand(offerId, shortOf(context, offerId))));
  return 0;
}

function sayEnd({ terminal }: CommandContext, watch: Watch): ExitCode {
  terminal.settle();
  terminal.note(`The watch of ${watch.title} is over: the price was not seen to fall.`);
  terminal.aside(nextLines(farelock`watch history ${watch.watchId}`));
  return 8;
}
