import type { Address } from '@solana/kit';
import { resumePayment } from '../../../src/client/payer/resume.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import type { Intent, Passenger } from '../../../src/wire/flights/index.ts';
import { BEGINNING_MS, type World } from '../world/world.ts';
import { createPerson, type Fact, type Find, type Person } from './people.ts';
import { AFFILIATES, refundWalletOf, type Stage, walletOf } from './stage.ts';
import { BASE_URL, type Tool } from './tool.ts';

const DATE = '2026-12-20';
/** Half of the journeys go well at the airline; the others by the sandbox's routes that fail. */
const ROUTES = [
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LGW', 'LHR'],
  ['LGW', 'STN'],
  ['STN', 'LHR'],
  ['LTN', 'LHR'],
  ['LHR', 'LGW'],
] as const;

/** What low-cost carriers sell: half of it goes well, the rest by the routes of the sandbox that fail. */
const CHEAP_ROUTES = [
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LIS', 'BER'],
  ['LTN', 'LGW'],
  ['LTN', 'STN'],
  ['STN', 'LTN'],
  ['LGW', 'LTN'],
  ['LHR', 'LTN'],
  ['LCY', 'LGW'],
  ['LCY', 'STN'],
  ['LCY', 'LTN'],
] as const;
const MOST_LOOKS = 40;

/** Who looks for somebody's offer to take it first. */
export interface Gossip {
  readonly chosen: { readonly who: string; readonly offerId: string }[];
}

const passengerOf = (name: string): Passenger => ({
  given_name: name.slice(0, 1).toUpperCase() + name.slice(1),
  family_name: 'Lovelace',
  born_on: '1990-12-10',
  title: 'ms',
  gender: 'f',
  email: `${name}@example.org`,
  phone_number: '+351912345678',
  // Low-cost carriers ask for it before anything is paid.
  nationality: 'PT',
  passport_number: 'CB123456',
  passport_expiry: '2099-05-01',
});

/** When somebody comes for the second time, if the first is over. */
const AGAIN_MS = 4 * 60_000;
const WAITS_MS = 15 * 60_000;

/** A customer: searches, books, waits; may ask for the order, for a refund; runs things twice, dawdles, vanishes. */
export function createCustomer(world: World, stage: Stage, name: string, find: Find, facts: Fact[], gossip: Gossip) {
  const { chance } = world;
  const person = createPerson(world, stage, name, find, facts);
  const intents: Intent[] = [];
  const does = (what: string, odds: number) => {
    const does = chance.takesPart(`${name} ${what}`, odds);
    if (does) world.saw(`somebody ${what.replace(/ \d+$/, '')}`);
    return does;
  };

  async function journey(number: number): Promise<void> {
    stage.journeys.set(walletOf(name).address, number);
    const isCheap = does(`flies with a low-cost carrier ${number}`, 0.35);
    const [origin, destination] = isCheap
      ? chance.pick(`${name} cheap route ${number}`, CHEAP_ROUTES)
      : chance.pick(`${name} route ${number}`, ROUTES);
    const trip = { origin_iata: origin, destination_iata: destination, depart_date: DATE };
    const found = await person.persist(`search ${number}`, async ({ client }) => {
      const { value, payment } = await client.search(trip);
      person.paid(`${name} search ${number}`, payment);
      return value;
    });
    if (found === null || isProblem(found)) return;
    const { search_id: searchId, offers } = found.value;
    const offerId = isCheap
      ? searchId && (await fareOf(number, searchId))
      : offers[Math.floor(chance.part(`${name} offer ${number}`) * Math.min(4, offers.length))]?.offer_id;
    if (!offerId) return;
    gossip.chosen.push({ who: name, offerId });
    if (does(`dawdles before the intent ${number}`, 0.1))
      await world.sleep(chance.part(`${name} dawdle`) * 20 * 60_000);
    const intent = await lockOffer(number, offerId);
    if (!intent) return;
    if (does(`vanishes after the intent ${number}`, 0.08)) return;
    if (does(`sends dust into the vault ${number}`, 0.08)) await person.sends(intent.escrow.address as Address, 1n);
    if (does(`dawdles before booking ${number}`, 0.08))
      await world.sleep(chance.part(`${name} late ${number}`) * 40 * 60_000);
    await book(number, intent);
  }

  /** Waits for the slow offers, opens the menu of one, and chooses a fare. */
  async function fareOf(number: number, searchId: string): Promise<string | null> {
    const slow: string[] = [];
    let cursor: string | undefined;
    for (let look = 1, isComplete = false; look <= MOST_LOOKS && !isComplete; look++) {
      const asked = { search_id: searchId, ...(cursor !== undefined && { cursor }) };
      const more = await person.command(`updates ${number}`, ({ client }) => client.searchUpdates(asked));
      if (more !== null && !isProblem(more)) {
        slow.push(...more.value.offers.map(({ offer_id: id }) => id));
        cursor = more.value.cursor;
        isComplete = more.value.status === 'complete';
      }
      await world.sleep(1_500);
    }
    if (slow.length === 0) return null;
    world.saw('slow offers come in');
    const offerId = slow[Math.floor(chance.part(`${name} flight ${number}`) * slow.length)] ?? '';
    const opened = await person.persist(
      `fares ${number}`,
      async ({ client }) => {
        const { value, payment } = await client.offerDetails(offerId);
        person.paid(`${name} fares ${offerId}`, payment);
        return value.fare_menu;
      },
      4,
    );
    if (opened === null || isProblem(opened)) return null;
    const fares = opened.value?.fares ?? [];
    return fares[Math.floor(chance.part(`${name} fare ${number}`) * fares.length)]?.offer_id ?? null;
  }

  /** The code that somebody comes by: of an affiliate, or his own. */
  async function referrer(): Promise<{ code: string; by: string | null } | null> {
    const isOwn = does('comes by a code of his own', 0.06);
    if (!isOwn && !does('comes by an affiliate', 0.4)) return null;
    const by = isOwn ? null : chance.pick(`${name} affiliate`, AFFILIATES);
    const made = await person.persist('code', ({ client }) => client.createAffiliate(walletOf(by ?? name).address));
    return made === null || isProblem(made) ? null : { code: made.value.code, by };
  }

  async function lockOffer(number: number, offerId: string): Promise<Intent | null> {
    const thing = `${name} intent ${number}`;
    const referral = await referrer();
    const made = await person.persist(`intent ${number}`, async ({ client }) => {
      const { value, payment } = await client.createIntent({
        offer_id: offerId,
        refund_wallet: refundWalletOf(name).address,
        ...(referral && { referrer: referral.code }),
      });
      person.paid(thing, payment);
      person.fact({ kind: 'intent', who: name, intentId: value.intent_id });
      return value;
    });
    // Told to book the one that is there, whoever made it, a customer believes it.
    const other = isProblem(made, 'intent_already_exists') ? made.detail?.intent_id : null;
    const read =
      typeof other === 'string' ? await person.persist(`show ${number}`, ({ client }) => client.intent(other)) : made;
    if (read === null || isProblem(read)) return null;
    if (referral) person.fact({ kind: 'referred', who: name, intentId: read.value.intent_id, by: referral.by });
    intents.push(read.value);
    return read.value;
  }

  async function book(number: number, intent: Intent): Promise<void> {
    const thing = `${name} book ${intent.intent_id}`;
    const once = async ({ client }: Tool) => {
      const { payment } = await client.book(intent, [passengerOf(name)]);
      person.paid(thing, payment);
    };
    const label = `book ${number}`;
    const second = does(`books in two windows at once ${number}`, 0.12) ? person.persist(`${label} too`, once) : null;
    if (does(`moves the money away meanwhile ${number}`, 0.04)) {
      world.after(chance.part(`${name} away`) * 1_500, () => {
        void person
          .sends(walletOf('eve').address, 4_900_000_000n)
          .catch((error) => world.failed('sending by hand', error));
      });
    }
    const vanishes = does(`vanishes while booking ${number}`, 0.07);
    const booked = await person.persist(label, once, vanishes ? 1 : undefined);
    await second;
    if (vanishes) return;
    if (isProblem(booked) && !isProblem(booked, 'booking_already_requested')) return;
    if (does(`pays the vault once more ${number}`, 0.06))
      await person.sends(intent.escrow.address as Address, 25_000_000n);
    const ended = await wait(number, intent);
    if (ended?.status === 'booked') await afterwards(number, ended);
  }

  async function wait(number: number, { intent_id: id }: Intent): Promise<Intent | null> {
    const untilMs = world.now() + WAITS_MS;
    for (let look = 1; world.now() < untilMs; look++) {
      const seen = await person.command(`status ${number}`, ({ client }) => client.intent(id));
      if (seen !== null && !isProblem(seen) && seen.value.status !== 'active') {
        const { status } = seen.value;
        person.fact({ kind: 'ended', who: name, intentId: id, status });
        world.saw(`a customer is told: ${status}`);
        world.tell(name, `is told that it is ${status}`);
        return seen.value;
      }
      await world.sleep(2_000 + Math.min(20, look) * 1_500);
    }
    return null;
  }

  async function afterwards(number: number, intent: Intent): Promise<void> {
    const supportCode = async ({ store }: Tool) => (await store.intent(intent.intent_id))?.supportCode ?? '';
    if (does(`asks for the order ${number}`, 0.25)) {
      await person.persist(`order ${number}`, async (tool) => {
        const { payment } = await tool.client.order(intent.order_id ?? '', await supportCode(tool));
        person.paid(`${name} order ${intent.intent_id}`, payment);
      });
    }
    if (does(`asks for a refund ${number}`, 0.4)) {
      await person.persist(`refund ${number}`, async (tool) => {
        const { payment } = await tool.client.requestRefund(
          { intent_id: intent.intent_id, reason: 'I broke a leg.' },
          { supportCode: await supportCode(tool), familyName: 'Lovelace' },
        );
        person.paid(`${name} refund ${intent.intent_id}`, payment);
        person.fact({ kind: 'requested', who: name, intentId: intent.intent_id });
      });
    }
  }

  return {
    ...person,
    async play(): Promise<void> {
      await world.sleep(chance.pauseMs(`${name} comes`, 60_000));
      await journey(1);
      if (!does('comes again', 0.35)) return;
      // At a moment of the world's, whatever the first journey has taken.
      await world.sleep(Math.max(0, BEGINNING_MS + AGAIN_MS - world.now()));
      await journey(2);
    },
    /** Resumes what is open, as the tool says. People who vanished do it after all: the money is theirs. */
    finish: () => finish(world, person),
  };
}

/** Brings every payment of a journal to its end. */
async function finish(world: World, person: Person): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const open = await person.command('payments', async ({ store }) =>
      (await store.payments()).filter((one) => one.open || one.answer_kept).map((one) => one.payment_id),
    );
    if (open === null || isProblem(open)) continue;
    if (open.value.length === 0) return;
    for (const id of open.value) await resume(world, person, id);
    await world.sleep(60_000);
  }
  world.violate('every payment comes to its end', `${person.home} still has open payments`);
}

const resume = (world: World, person: Person, id: string) =>
  person.command(`payments resume ${id}`, async ({ store, cluster, neverLanded, fetch }) => {
    const signed = await store.signedPayment(id);
    if (!signed) return;
    const answer = await resumePayment(
      {
        journal: store,
        cluster,
        clock: { now: world.now, sleep: world.sleep },
        neverLanded,
        fetch,
        baseUrl: BASE_URL,
        headersOf: async () => ({}),
      },
      signed,
      { timeoutMs: 30_000 },
      {},
    );
    if (answer) await store.shown([id]);
  });
