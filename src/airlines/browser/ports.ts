import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { DnsTexts } from './mail.ts';
import type { Visit } from './page/index.ts';
import type { CardIssuer } from './purchases.ts';
import { isPretend, type Recipe } from './recipes/index.ts';
import type { Store } from './tables.ts';

/** The operator's settings of carriers' web sites (docs/carriers.md). */
export interface BrowserSettings {
  readonly recipes: readonly string[];
  /** Other addresses of carriers' sites, by carrier code: of a sandbox, say. */
  readonly sites?: Readonly<Record<string, string>> | undefined;
  /** The browser; without it, the first of the usual names on this machine. */
  readonly chromium?: string | null | undefined;
  /** Browsers at once (default 2). */
  readonly mostBrowsers?: number | undefined;
  /** How long a visit may take until it presses the button (default 90 seconds). */
  readonly visitMs?: number | undefined;
  readonly cards: CardIssuer;
  /** A Maildir into which the carriers' mails are delivered. */
  readonly mailFolder?: string | null | undefined;
  /** The address that carriers are given, with `{reference}` in it: `bookings+{reference}@example.com`. */
  readonly mailAddress?: string | null | undefined;
  /** Looks up the keys that mails are signed with; without it, DNS. */
  readonly dnsTexts?: DnsTexts | undefined;
  /** How long to wait for a confirmation that the page did not give and a mail may (default 15 minutes). */
  readonly mailWaitMs?: number | undefined;
  /** Least time between two looks at the page of a booking (default one minute). */
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
  readonly visitMs: number;
  /** Goes to a carrier's site when there is a place for one more browser, and ends the visit whatever happens. */
  visiting<T>(who: 'buyer' | 'looker', recipe: Recipe, work: (visit: Visit) => Promise<T>): Promise<T>;
}

/** A sandbox's card is good at a pretend till alone: at a real one it would be a made-up number. */
export const paysAt = ({ settings }: Pick<Shop, 'settings'>, recipe: Recipe): boolean =>
  !settings.cards.isSandbox || isPretend(recipe);

export const recipeOfCarrier = ({ recipes }: Pick<Shop, 'recipes'>, code: string): Recipe | undefined =>
  recipes.find(({ carrier }) => carrier.code === code);
