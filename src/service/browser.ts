import { resolve } from 'node:dns/promises';
import { type BrowserFulfiller, createBrowserFulfiller } from '../airlines/browser/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import {
  createSandboxCards,
  SANDBOX_DKIM_SELECTOR,
  SANDBOX_MAIL_DOMAIN,
  sandboxDkimRecord,
} from '../sandbox/carrier-site/index.ts';
import type { Home } from './home.ts';
import type { CarrierSites } from './types.ts';

/** The name of the sandbox's key for mails: of a domain that can't exist, so no real carrier's mail is looked up here. */
const SANDBOX_KEY = `${SANDBOX_DKIM_SELECTOR}._domainkey.${SANDBOX_MAIL_DOMAIN}`;

const dnsTexts = async (name: string, type: string): Promise<string[][]> =>
  name === SANDBOX_KEY ? [[sandboxDkimRecord()]] : ((await resolve(name, type)) as string[][]);

/**
 * The browser that buys on carriers' web sites. Its cards are the sandbox's: an issuer of real ones is a port that
 * nothing is behind yet, so it sells no real tickets.
 * @throws Problem `recipe_invalid`, `browser_missing`
 */
export const openBrowserTier = (
  sites: CarrierSites,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { store, keys }: Pick<Home, 'store' | 'keys'>,
): BrowserFulfiller =>
  createBrowserFulfiller({
    ...{ clock, log, store },
    secrets: keys.secrets,
    settings: { ...sites, cards: createSandboxCards(), dnsTexts },
  });
