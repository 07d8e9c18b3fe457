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
  /** Its invented cards pay only in a sandbox. */
  readonly isSandbox: boolean;
  /**
   * Issues the same card for the same reference, good for one charge of exactly this amount.
   * @param request `merchant` is the carrier's name, for issuers that tie cards to merchants
   * @throws Problem `provider_failed` without a card: nothing was bought then
   */
  issue(request: {
    readonly reference: string;
    readonly amountDecimal: string;
    readonly currency: string;
    readonly merchant: string;
  }): Promise<Card>;
  /** Ends an unused card; does nothing to one that is gone, or was never issued. */
  revoke(reference: string): Promise<void>;
}

/** The operator's settings of carriers' sites (docs/carriers.md). */
export interface BrowserSettings {
  readonly recipes: readonly string[];
  /** Other addresses of sites by carrier code, such as a sandbox's. */
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
  /** The address for carriers: `bookings+{reference}@example.com`. */
  readonly mailAddress?: string | null | undefined;
  /** Looks up mails' signing keys (default: DNS). */
  readonly dnsTexts?: ((name: string, type: string) => Promise<string[][]>) | undefined;
  /** A folder for the codes of banks that a person writes: a file for each purchase, named by its reference. */
  readonly codeFolder?: string | null | undefined;
  /** Accounts at sites, by carrier code; secrets. */
  readonly accounts?: Readonly<Record<string, Account>> | undefined;
  /** The wait for a mail's confirmation where the page gave none (default 15 minutes). */
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
  /** Recipes that lack no setting; bookings of the others are still looked at. */
  readonly sold: readonly Recipe[];
  readonly visitMs: number;
  /** Visits a site once a browser is free, and always ends the visit. */
  visiting<T>(who: 'buyer' | 'looker', recipe: Recipe, work: (visit: Visit) => Promise<T>): Promise<T>;
}

/** A sandbox's card pays at pretend tills alone. */
export const paysAt = ({ settings, sold }: Pick<Shop, 'settings' | 'sold'>, recipe: Recipe): boolean =>
  sold.includes(recipe) && (!settings.cards.isSandbox || isPretend(recipe));

export const recipeOfCarrier = ({ recipes }: Pick<Shop, 'recipes'>, code: string): Recipe | undefined =>
  recipes.find(({ carrier }) => carrier.code === code);
