import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { Account, Visit } from './page/index.ts';
import { isPretend, type Recipe } from './recipes/index.ts';
import type { Store } from './tables.ts';

/** A card as a till asks for it. It exists in memory alone: never write it down, log it, or show it. */
export interface Card {
  readonly number: string;
  /** YYYY-MM. */
  readonly expiry: string;
  readonly cvc: string;
  readonly holder: string;
}

/** Issues virtual cards, each for one purchase. */
export interface CardIssuer {
  /** True if its cards are invented and pay only in a sandbox. */
  readonly isSandbox: boolean;
  /**
   * Issues a card for one charge of exactly this amount; the same reference gets the same card.
   * @param request `merchant` is the carrier's name, for issuers that tie cards to merchants
   * @throws Problem `provider_failed` without a card: nothing was bought then
   */
  issue(request: {
    readonly reference: string;
    readonly amountDecimal: string;
    readonly currency: string;
    readonly merchant: string;
  }): Promise<Card>;
  /** Ends an unused card; does nothing if the card is gone or was never issued. */
  revoke(reference: string): Promise<void>;
}

/** The operator's settings of carriers' sites (docs/carriers.md). */
export interface BrowserSettings {
  readonly recipes: readonly string[];
  /** Addresses in place of the recipes', by carrier code, such as a sandbox's. */
  readonly sites?: Readonly<Record<string, string>> | undefined;
  /** The browser (default: the first of the usual names on this machine). */
  readonly chromium?: string | null | undefined;
  /** Concurrent browsers (default 2). */
  readonly mostBrowsers?: number | undefined;
  /** A visit's time up to the press (default 90 seconds). */
  readonly visitMs?: number | undefined;
  readonly cards: CardIssuer;
  /** A Maildir for carriers' mails. */
  readonly mailFolder?: string | null | undefined;
  /** The address given to carriers: `bookings+{reference}@example.com`. */
  readonly mailAddress?: string | null | undefined;
  /** Looks up mails' signing keys (default: DNS). */
  readonly dnsTexts?: ((name: string, type: string) => Promise<string[][]>) | undefined;
  /** A folder where a person leaves banks' codes, each in a file named by the purchase's reference. */
  readonly codeFolder?: string | null | undefined;
  /** Accounts at carriers' sites, by carrier code; secret. */
  readonly accounts?: Readonly<Record<string, Account>> | undefined;
  /** The wait for a confirmation by mail if the page gave none (default 15 minutes). */
  readonly mailWaitMs?: number | undefined;
  /** The least time between looks at a booking's page (default one minute). */
  readonly manageEveryMs?: number | undefined;
}

export interface BrowserOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: BrowserSettings;
}

export interface Shop extends BrowserOptions {
  readonly recipes: readonly Recipe[];
  /** Recipes that lack no setting; the others' bookings are still looked up. */
  readonly sold: readonly Recipe[];
  readonly visitMs: number;
  /** Looks of this process that are under way or wait for a browser, so that none is begun twice. */
  readonly looks: Set<string>;
  /** Visits a site once a browser is free, and always ends the visit. */
  visiting<T>(who: 'buyer' | 'looker', recipe: Recipe, work: (visit: Visit) => Promise<T>): Promise<T>;
}

/** True if purchases can be paid: a sandbox's card pays only at pretend tills. */
export const paysAt = ({ settings, sold }: Pick<Shop, 'settings' | 'sold'>, recipe: Recipe): boolean =>
  sold.includes(recipe) && (!settings.cards.isSandbox || isPretend(recipe));

export const recipeOfCarrier = ({ recipes }: Pick<Shop, 'recipes'>, code: string): Recipe | undefined =>
  recipes.find(({ carrier }) => carrier.code === code);
