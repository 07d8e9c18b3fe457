import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import type { Intent, Offer, OfferDetailsResponse, Stuck } from '../../../src/wire/flights/index.ts';
import { PASSENGER, type Runner } from '../../e2e/farelock.ts';
import { asked, openStage, ran, type Stage } from '../../e2e/stage.ts';
import { rounds } from '../../rounds.ts';
import { bookedFor, chromium, recipeAt } from './buyer.ts';
import { type Served, serveSite } from './served.ts';

/**
 * The built service is killed (kill -9) between the payment's POST and the till's answer, once for each purchase. The next
 * process presses nothing again: what the carrier's mail confirms is captured, and the rest waits for a person.
 */

const LATE_MS = 100_000;
const SLOW_MS = 4_000;
const TRAVELLER = {
  ...PASSENGER,
  ...{ nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' },
};

interface Till {
  readonly scenario: SiteScenario;
  readonly times: number;
  /** How long after the POST the service dies, one after the other. */
  readonly dies: readonly number[];
  /** Nobody reads the carrier's mails: only a person can find out what came of it. */
  readonly isDeaf?: true;
}

const TILLS: readonly Till[] = [
  { scenario: 'pays_itself', times: rounds(0, 3), dies: [0, 500, 3_000] },
  { scenario: 'pays_again', times: rounds(0, 3), dies: [0, 500, 3_000] },
  { scenario: 'slow_confirmation', times: rounds(0, 3), dies: [0, 1_000, 3_000] },
  { scenario: 'answers_late', times: rounds(0, 3), dies: [0, 10_000, 60_000] },
  { scenario: 'answers_late', times: rounds(0, 3), dies: [0, 10_000, 30_000], isDeaf: true },
];

describe.runIf(chromium)('a service that is killed between the press and the answer', () => {
  let site: Served;
  let stage: Stage;
  let operated: Runner;
  let recipe: string;
  let onPost: () => void = () => undefined;
  beforeAll(async () => {
    site = await serveSite({ mailMs: 100, slowMs: SLOW_MS, lateMs: LATE_MS });
    site.onRequest = (request) => {
      if (request === 'POST /pay') onPost();
    };
    recipe = join(site.folder, 'recipe.json');
    writeFileSync(recipe, JSON.stringify(recipeAt('none')));
    const prepare = (runner: Runner) => {
      operated ??= runner;
      Object.assign(runner.env, {
        FARELOCK_RECIPES: recipe,
        FARELOCK_CARRIER_SITES: `X9=${site.url}`,
        FARELOCK_VISIT_SECONDS: '180',
        FARELOCK_CARRIER_MAIL_FOLDER: site.mailFolder,
        FARELOCK_CARRIER_MAIL_ADDRESS: 'bookings+{reference}@example.com',
      });
    };
    stage = await openStage(1, prepare, ['--lowcost', 'browser']);
  });
  afterAll(async () => {
    await stage?.close();
    await site?.close();
  });

  /** Asked again where the machine is too busy to read a site in the minute that a command has here. */
  async function looked<T, Found>(words: string, find: (answer: T) => Found | undefined): Promise<Found> {
    for (let tries = 1; tries < 5; tries++) {
      const found = await ran<T>(stage.traveller, words.split(' ')).then(find, () => undefined);
      if (found !== undefined) return found;
    }
    throw new Error(`${words}: nothing was found`);
  }

  /** Locks so many fares of a flight of the pretend carrier; each till has a day of its own. */
  async function locked(times: number, day: number): Promise<Intent[]> {
    const { traveller } = stage;
    const search = `search VIE LIS --depart +${day}d --wait --all-fares --limit 500`;
    const flight = await looked(search, ({ offers }: { offers: Offer[] }) =>
      offers.map(({ offer_id }) => offer_id).find((id) => id.startsWith('lowcost:')),
    );
    const fares = await looked(`offer ${flight}`, ({ fare_menu: menu }: OfferDetailsResponse) =>
      menu?.status === 'ready' ? menu.fares : undefined,
    );
    const made: Intent[] = [];
    for (const fare of fares.slice(0, times))
      made.push(await ran<Intent>(traveller, ['intent', 'create', fare.offer_id]));
    expect(made).toHaveLength(times);
    return made;
  }

  async function restarted(): Promise<void> {
    stage.kill();
    await stage.ended();
    await stage.start();
  }

  /** What captures have brought, and fees. */
  async function treasury(): Promise<bigint> {
    const { value } = await asked<{ value: TokenAccount[] }>(stage.rpcUrl, 'getTokenAccountsByOwner', [
      stage.key('treasury').address,
      { programId: TOKEN_PROGRAM },
      { encoding: 'jsonParsed' },
    ]);
    const units = value.map(({ account }) => BigInt(account.data.parsed.info.tokenAmount.amount));
    return units.reduce((sum, one) => sum + one, 0n);
  }

  /** How an intent stands; null while no service answers: then the tool knows what the cluster says alone. */
  async function standing(id: string): Promise<string | null> {
    try {
      const { status } = await ran<Intent>(stage.traveller, ['intent', 'show', id]);
      const { bookings } = await stage.desk<Stuck>('/stuck');
      const found = bookings.find(({ intent_id }) => intent_id === id);
      return found ? `${status}, ${found.last_error}` : (status ?? null);
    } catch {
      return null;
    }
  }

  test.each(TILLS.filter(({ times }) => times > 0))(
    '$scenario (nobody reads mails: $isDeaf): one payment each, every end true',
    async (till) => {
      const { scenario, times, dies, isDeaf } = till;
      const intents = await locked(times, 30 + TILLS.indexOf(till));
      const amount = intents.reduce((sum, { escrow }) => sum + BigInt(escrow.amount), 0n);
      writeFileSync(recipe, JSON.stringify(recipeAt(scenario, 60_000)));
      operated.env.FARELOCK_CARRIER_MAIL_FOLDER = isDeaf ? '' : site.mailFolder;
      await restarted();
      const [paidBefore, takenBefore] = [BigInt(await stage.usdc()), await treasury()];
      let posts = 0;
      onPost = () => {
        posts += 1;
      };
      for (const [i, { intent_id: id }] of intents.entries()) {
        await ran(stage.traveller, ['book', id, '--passengers', '-', '--yes', '--no-wait'], ONE);
        await expect.poll(() => posts, { timeout: 10 * 60_000, interval: 10 }).toBe(i + 1);
        await sleep(dies[i % dies.length]);
        await restarted();
      }
      const end = isDeaf ? 'active, payment_pressed_no_confirmation' : 'booked';
      const ends: string[] = [];
      for (const { intent_id: id } of intents) {
        let last: string | null = null;
        const isOver = async () => {
          last = await standing(id);
          return last !== null && last !== 'active';
        };
        await expect.poll(isOver, { timeout: 20 * 60_000, interval: 3_000 }).toBe(true);
        const { presses, sales } = await bookedFor(site, id);
        ends.push(`${last}: ${presses.length} paid, ${sales.length} sold`);
      }
      onPost = () => undefined;
      process.stdout.write(`${scenario}: ${posts} kills; ${JSON.stringify(ends)}\n`);
      expect(ends).toEqual(intents.map(() => `${end}: 1 paid, 1 sold`));
      expect(posts).toBe(times);
      // Nothing was paid back, and only what is known to be bought was taken.
      expect(paidBefore - BigInt(await stage.usdc())).toBe(amount);
      expect((await treasury()) - takenBefore).toBe(isDeaf ? 0n : amount);
    },
  );
});

interface TokenAccount {
  readonly account: { readonly data: { readonly parsed: { readonly info: Info } } };
}
interface Info {
  readonly tokenAmount: { readonly amount: string };
}
const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ONE = JSON.stringify([TRAVELLER]);
