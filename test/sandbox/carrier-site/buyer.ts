import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BrowserFulfiller, createBrowserFulfiller } from '../../../src/airlines/browser/index.ts';
import { findChromium } from '../../../src/airlines/browser/page/chromium.ts';
import type { Recipe } from '../../../src/airlines/browser/recipes/index.ts';
import type { BookOutcome, Purchase, SoldFare } from '../../../src/airlines/fulfiller.ts';
import type { RoundTrip } from '../../../src/airlines/provider.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { createSandboxCards } from '../../../src/sandbox/carrier-site/cards.ts';
import { sandboxDkimRecord } from '../../../src/sandbox/carrier-site/mail.ts';
import type { SiteScenario } from '../../../src/sandbox/carrier-site/scenarios.ts';
import { openStore } from '../../../src/service/home.ts';
import type { Offer, Passenger } from '../../../src/wire/flights/index.ts';
import { worldClock } from '../../clock.ts';
import { isHere } from '../../needs.mjs';
import type { Books, Served } from './served.ts';
import { dayFromNow } from './shopper.ts';

/** The real engine with a real Chromium, by the example recipe, at the pretend carrier's site. */

export const chromium = findChromium(process.env.FARELOCK_CHROMIUM);
isHere('Chromium', chromium !== null);

export const RECIPE: Recipe = JSON.parse(readFileSync('docs/recipes/sandbox-hopper.json', 'utf8'));

/** One way over a route that behaves, for one. */
export const QUERY: RoundTrip = {
  origin: 'VIE',
  destination: 'LIS',
  departDate: dayFromNow(30),
  adults: 1,
  cabinClass: 'economy',
};

export const TRAVELLER: Passenger = {
  title: 'ms',
  given_name: 'Ana',
  family_name: 'Costa',
  gender: 'f',
  born_on: '1988-03-05',
  email: 'ana.costa@example.com',
  phone_number: '+351912345678',
  nationality: 'PT',
  passport_number: 'P1234567',
  passport_expiry: '2090-01-01',
};

/** How a purchase ended: an outcome, or the words of a failure that bought nothing. */
export type Ended = BookOutcome | { readonly kind: 'failed'; readonly why: string };

/** How a fulfiller waits for the carrier's word. */
export interface Waits {
  /** For the page that confirms. */
  readonly confirmsWithinMs?: number;
  /** false: no mail is read. */
  readonly readsMails?: boolean;
}

export interface Buyer {
  /** A fulfiller whose visits start with a scenario. */
  at(scenario: SiteScenario, waits?: Waits): BrowserFulfiller;
  offersFor(fulfiller: BrowserFulfiller, query?: RoundTrip): Promise<readonly Offer[]>;
  menuOf(fulfiller: BrowserFulfiller, offerId: string): Promise<readonly SoldFare[] | string>;
  /** An offer of the plain site with one of its fares: to be bought under any scenario. */
  wanted(brand: string, query?: RoundTrip): Promise<Omit<Purchase, 'reference'>>;
  /** Buys; where the site could not be used, it is tried again, as the worker does. */
  book(fulfiller: BrowserFulfiller, purchase: Purchase, mostTries?: number): Promise<Ended>;
  /** Asks until nothing is under way any more, or for so long. */
  settled(fulfiller: BrowserFulfiller, reference: string, mostMs?: number): Promise<BookOutcome | null>;
  /** Why visits had to be made again. */
  readonly failures: string[];
  store: Awaited<ReturnType<typeof openStore>>;
  secrets: ReturnType<typeof openSecrets>;
  close(): Promise<void>;
}

interface BuyerOptions {
  readonly mostBrowsers?: number;
  readonly mailWaitMs?: number;
  readonly visitMs?: number;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

export async function openBuyer(site: Served, options: BuyerOptions = {}): Promise<Buyer> {
  const { mostBrowsers = 2, mailWaitMs = 2_500, visitMs } = options;
  const store = await openStore(join(site.folder, 'service.db'));
  const secrets = openSecrets(join(site.folder, 'keys.json'));
  const made = new Map<string, BrowserFulfiller>();
  const at = (scenario: SiteScenario, waits: Waits = {}): BrowserFulfiller => {
    const { readsMails = true, confirmsWithinMs = usualWaitMs(scenario) } = waits;
    const name = `${scenario}-${confirmsWithinMs}-${readsMails}`;
    const known = made.get(name);
    if (known) return known;
    const file = join(site.folder, `${name}.json`);
    writeFileSync(file, JSON.stringify(recipeAt(scenario, confirmsWithinMs)));
    const fulfiller = createBrowserFulfiller({
      ...{ store, secrets, clock: worldClock, log: silentLog },
      settings: {
        recipes: [file],
        sites: { X9: site.url },
        chromium,
        mostBrowsers,
        visitMs,
        cards: createSandboxCards(),
        mailFolder: readsMails ? site.mailFolder : null,
        mailAddress: 'bookings+{reference}@example.com',
        dnsTexts: async () => [[sandboxDkimRecord()]],
        mailWaitMs,
        manageEveryMs: 500,
      },
    });
    made.set(name, fulfiller);
    return fulfiller;
  };
  const buyer: Buyer = {
    at,
    failures: [],
    store,
    secrets,
    async offersFor(fulfiller, query = QUERY) {
      const startedAtMs = worldClock.now();
      for (;;) {
        const quoted = await fulfiller.quote(query, startedAtMs);
        if (quoted.kind === 'quoted') return quoted.offers;
        await pause(50);
      }
    },
    async menuOf(fulfiller, offerId) {
      const openedAtMs = worldClock.now();
      for (;;) {
        const menu = await fulfiller.menu(offerId, openedAtMs);
        if (menu.kind === 'opened') return menu.fares;
        if (menu.kind !== 'pending') return menu.kind;
        await pause(50);
      }
    },
    async wanted(brand, query = QUERY) {
      const plain = at('none');
      const [offer] = await buyer.offersFor(plain, query);
      if (!offer) throw new Error('nothing flies');
      let fares = await buyer.menuOf(plain, offer.offer_id);
      // A visit that a busy machine has cut short is made again, as a traveller would ask again.
      for (let tries = 1; fares === 'check_failed' && tries < 3; tries++) {
        fares = await buyer.menuOf(plain, offer.offer_id);
      }
      const fare = typeof fares === 'string' ? undefined : fares.find((one) => one.brand === brand);
      if (!fare) throw new Error(`no fare ${brand}: ${String(fares)}`);
      const passengers = Array.from({ length: query.adults }, () => TRAVELLER);
      return { offerId: offer.offer_id, fare, amountDecimal: fare.totalAmountDecimal, passengers };
    },
    async book(fulfiller, purchase, mostTries = 1) {
      for (let tries = 1; ; tries++) {
        const ended = await fulfiller
          .book(purchase)
          .catch((error: unknown): Ended => ({ kind: 'failed', why: String(error) }));
        if (ended.kind !== 'failed' || tries >= mostTries) return ended;
        buyer.failures.push(ended.why);
      }
    },
    async settled(fulfiller, reference, mostMs = 60_000) {
      const endsMs = performance.now() + mostMs;
      for (;;) {
        const outcome = await fulfiller.find(reference);
        if (outcome?.kind !== 'pending' || performance.now() > endsMs) return outcome;
        await pause(100);
      }
    },
    async close() {
      await Promise.all([...made.values()].map((one) => one.close()));
      await store.destroy();
    },
  };
  return buyer;
}

/** Scenarios whose page never says anything: no test waits for it. */
const SILENT: ReadonlySet<SiteScenario> = new Set([
  'pay_pressed_no_confirmation',
  'card_declined',
  'cut_with_sale',
  'cut_without_sale',
  'pays_again',
]);

const usualWaitMs = (scenario: SiteScenario): number => (SILENT.has(scenario) ? 3_000 : 20_000);

/** The example recipe, with visits that start with a scenario, and a patience of its own. */
export function recipeAt(scenario: SiteScenario, confirmsWithinMs = usualWaitMs(scenario)): Recipe {
  const steps = RECIPE.search.steps.map((step) =>
    step.do === 'open' ? { ...step, path: `/?scenario=${scenario}` } : step,
  );
  return {
    ...RECIPE,
    search: { ...RECIPE.search, steps: scenario === 'none' ? RECIPE.search.steps : steps },
    confirmation: { ...RECIPE.confirmation, within_ms: confirmsWithinMs },
  };
}

/** Of one reference, in the site's own books. */
export async function bookedFor(site: Served, reference: string) {
  const books = await site.books();
  const of = (one: Books['presses'][number] | Books['sales'][number]) => one.reference === reference;
  return { presses: books.presses.filter(of), sales: books.sales.filter(of), elsewhere: books.elsewhere };
}
