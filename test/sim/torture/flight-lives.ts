import { randomBytes } from 'node:crypto';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import type {
  CreatedIntent,
  Intent,
  Offer,
  OfferDetailsResponse,
  RefundQueue,
} from '../../../src/wire/flights/index.ts';
import { PASSENGER } from '../../e2e/farelock.ts';
import { isRefundable } from '../../e2e/stage.ts';
import { isLeftOpen } from './books.ts';
import type { Life } from './life.ts';

/** Travellers: what they do, step by step. */

const DOCUMENTS = { nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' };
const TRAVELLER = JSON.stringify([PASSENGER]);
const WITH_DOCUMENTS = JSON.stringify([{ ...PASSENGER, ...DOCUMENTS }]);
const FEES = { search: 'POST /air/search', offer: 'POST /air/offer-details', intent: 'POST /air/intents' };

interface Found {
  readonly offers: Offer[];
}

const oneOf = <T>(life: Life, list: readonly T[]): T => {
  const found = list[Math.floor(life.chance() * list.length)];
  if (found === undefined) throw new Error('nothing to choose from');
  return found;
};
const isSold = ({ total_currency: currency, total_amount_decimal: total }: Offer) =>
  currency === 'USD' && Number(total) >= 10 && Number(total) < 450;
const scenario = (name: string) => (name === '' ? {} : { FARELOCK_SCENARIO: name });

/** A new day for each life, so that nothing was bought before. */
const search = (life: Life, ...rest: string[]): string[] => {
  const depart = `+${20 + (life.number % 300)}d`;
  const adults = String(1 + Math.floor(life.number / 300));
  return ['search', 'LIS', 'BER', '--depart', depart, '--adults', adults, '--all-fares', ...rest];
};

/** Locks an offer. @returns the intent, also where the answer was lost on its way */
async function locked(life: Life, offerId: string, env: Record<string, string>, ...rest: string[]) {
  const args = ['intent', 'create', offerId, ...rest];
  const ends = ['intent_already_exists'];
  const made = await life.step<CreatedIntent>('traveller', args, { env, buys: FEES.intent, ends });
  const id = made.intent_id ?? made.error?.detail?.intent_id;
  if (typeof id !== 'string') throw new Error(`no intent: ${JSON.stringify(made)}`);
  return id;
}

const statusOf = async (life: Life, id: string, env: Record<string, string>) =>
  life.run<Intent>('traveller', ['status', id], { env });

/** What an intent comes to that is not at its end yet. */
async function endOf(life: Life, id: string, env: Record<string, string>, notYet: string): Promise<string> {
  for (let looks = 0; looks < 40; looks++) {
    const { status } = await statusOf(life, id, env);
    if (status !== notYet) return status;
  }
  return notYet;
}

/** Books, and holds the end to what the airline does in the scenario. */
async function booked(life: Life, id: string, input: string, name: string, ends: 'booked' | 'refunded') {
  const env = scenario(name);
  await life.step('traveller', ['book', id, '--passengers', '-', '--yes'], { input, env });
  const { status } = await statusOf(life, id, env);
  life.expect(status === ends, `${id} (${name}) ended ${status}`);
  return status === 'booked';
}

const ENDS: readonly (readonly [string, 'booked' | 'refunded'])[] = [
  ['', 'booked'],
  ['', 'booked'],
  ['', 'booked'],
  ['outcome_unknown', 'booked'],
  ['ticketing_fails', 'refunded'],
  ['sold_out', 'refunded'],
];

/** Its service was started without a scenario. */
const isRemote = ({ place }: Life) => place.victim !== 'tool and services in one process';

/** Searches, looks, locks, books, reads the order, asks for a refund; the operator approves and pays it out. */
export async function flight(life: Life): Promise<void> {
  const [name, ends] = isRemote(life) ? (ENDS[0] ?? ['', 'booked']) : oneOf(life, ENDS);
  const env = scenario(name);
  const found = await life.step<Found>('traveller', search(life, '--no-wait', '--limit', '400'), { buys: FEES.search });
  const sold = found.offers.filter(isSold);
  const offer = oneOf(life, sold.some(isRefundable) ? sold.filter(isRefundable) : sold);
  await life.step('traveller', ['offer', offer.offer_id], { buys: FEES.offer });
  const id = await locked(life, offer.offer_id, env);
  if (!(await booked(life, id, TRAVELLER, name, ends))) return;
  await life.step('traveller', ['order', id], { buys: 'GET /air/orders' });
  if (isRefundable(offer)) await refunded(life, id);
}

async function refunded(life: Life, id: string): Promise<void> {
  await life.step('traveller', ['refund', 'request', id, '--reason', 'The meeting was called off.'], {
    buys: 'POST /air/refund-requests',
    ends: ['refund_already_requested'],
  });
  const { refund_requests: open } = await life.run<RefundQueue>('operator', ['refund', 'queue']);
  const asked = open.find((one) => one.intent_id === id);
  life.expect(asked !== undefined, `${id}: its refund was paid for and is not in the queue`);
  if (asked === undefined) return;
  await life.step('operator', ['refund', 'approve', asked.request_id, '--yes']);
  const status = await endOf(life, id, {}, 'booked');
  life.expect(status === 'refunded', `${id}: approved, and ${status}`);
}

const isLowcost = ({ offer_id: id }: Offer) => id.startsWith('lowcost:');
const LOWCOST_ENDS: typeof ENDS = [
  ['', 'booked'],
  ['', 'booked'],
  ['late_confirmation', 'booked'],
  ['price_differs_at_till', 'refunded'],
  ['form_rejected', 'refunded'],
];

/** Waits for the slower offers, opens a fare menu and locks one of its fares. */
async function lowcostIntent(life: Life, env: Record<string, string>): Promise<string> {
  const found = await life.step<Found>('traveller', search(life, '--wait', '--limit', '500'), {
    buys: FEES.search,
    env,
  });
  const flight = oneOf(life, found.offers.filter(isLowcost));
  const details = await life.step<OfferDetailsResponse>('traveller', ['offer', flight.offer_id], {
    buys: FEES.offer,
    env,
  });
  const fare = oneOf(life, details.fare_menu?.fares ?? []);
  return locked(life, fare.offer_id, env);
}

export async function lowcost(life: Life): Promise<void> {
  const [name, ends] = isRemote(life) ? (LOWCOST_ENDS[0] ?? ['', 'booked']) : oneOf(life, LOWCOST_ENDS);
  const id = await lowcostIntent(life, scenario(name));
  await booked(life, id, WITH_DOCUMENTS, name, ends);
}

/** Pay was pressed and nothing came of it: a person asks the airline, and decides. */
export async function stuck(life: Life): Promise<void> {
  const env = scenario('pay_pressed_no_confirmation');
  const id = await lowcostIntent(life, env);
  const ended = await life.step('traveller', ['book', id, '--passengers', '-', '--yes'], {
    input: WITH_DOCUMENTS,
    env,
    ends: ['booking_in_review'],
  });
  life.expect(ended.error?.code === 'booking_in_review', `${id}: is not in review: ${JSON.stringify(ended)}`);
  const isTicketed = life.chance() < 0.5;
  const decision = isTicketed ? ['ticketed', '--reference', 'QX7RTP', '--ticket', '999-1234567890'] : ['not-ticketed'];
  await life.step('operator', ['stuck', 'resolve', id, ...decision, '--yes'], {
    env,
    ends: ['stuck_already_resolved', 'stuck_not_found'],
  });
  const status = await endOf(life, id, env, 'active');
  life.expect(status === (isTicketed ? 'booked' : 'refunded'), `${id}: resolved ${decision[0]}, and ${status}`);
}

/** Somebody gets a code, and is owed a share of what is booked with it. */
export async function affiliate(life: Life): Promise<void> {
  const wallet = signerFromSeed(randomBytes(32)).address;
  const { code } = await life.step<{ code: string }>('traveller', ['affiliate', 'create', '--wallet', wallet]);
  const found = await life.step<Found>('traveller', search(life, '--no-wait', '--limit', '400'), { buys: FEES.search });
  const id = await locked(life, oneOf(life, found.offers.filter(isSold)).offer_id, {}, '--referrer', code);
  await booked(life, id, TRAVELLER, '', 'booked');
  const shown = await life.run<{ pending_amount: number }>('traveller', ['affiliate', 'show', code]);
  life.expect(shown.pending_amount > 0, `${code}: nothing is pending after ${id}`);
}

const DAY_MS = 86_400_000;
/** Once travellers have come back, what affiliates earned is paid; later on escrows are closed. */
const LATER_MS = [0, 45 * DAY_MS];
/** How often a service dies at most over what is left to it. */
const MOST_DEATHS = 12;

/** Books without waiting, also with a code; the service is killed again and again over the rest, and over what falls due. */
export async function unattended(life: Life): Promise<void> {
  const wallet = signerFromSeed(randomBytes(32)).address;
  const { code } = await life.run<{ code: string }>('traveller', ['affiliate', 'create', '--wallet', wallet]);
  const line = 'search LIS BER --depart +10d --all-fares --no-wait --limit 400';
  const found = await life.run<Found>('traveller', line.split(' '));
  for (const name of ['', 'outcome_unknown', 'ticketing_fails']) {
    const { offer_id: offer } = oneOf(life, found.offers.filter(isSold));
    const create = ['intent', 'create', offer, '--referrer', code];
    const env = scenario(name);
    const made = await life.run<CreatedIntent>('traveller', create, { env });
    const book = ['book', made.intent_id, '--passengers', '-', '--yes', '--no-wait'];
    await life.run('traveller', book, { env, input: TRAVELLER });
  }
  for (const ms of LATER_MS) {
    life.place.advance(ms);
    const isDone = () => !isLeftOpen(life.place.serviceHome, ms > 0);
    for (let deaths = 0; deaths < MOST_DEATHS && (await life.unattended('any call', isDone)); deaths++);
    await life.unattended('none', isDone);
  }
  const shown = await life.run<{ paid_amount: number }>('traveller', ['affiliate', 'show', code]);
  life.expect(shown.paid_amount > 0, `${code}: was never paid`);
}
