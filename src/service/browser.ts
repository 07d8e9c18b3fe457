import { resolve } from 'node:dns/promises';
import { type BrowserFulfiller, type BrowserOptions, createBrowserFulfiller } from '../airlines/browser/index.ts';
import {
  createSandboxCards,
  SANDBOX_DKIM_SELECTOR,
  SANDBOX_MAIL_DOMAIN,
  sandboxDkimRecord,
} from '../sandbox/carrier-site/index.ts';
import type { CarrierSites } from './types.ts';

/** The DNS name of the sandbox's DKIM key. Its domain cannot exist, so it hides no real carrier's key. */
const SANDBOX_KEY = `${SANDBOX_DKIM_SELECTOR}._domainkey.${SANDBOX_MAIL_DOMAIN}`;

const dnsTexts = async (name: string, type: string): Promise<string[][]> =>
  name === SANDBOX_KEY ? [[sandboxDkimRecord()]] : ((await resolve(name, type)) as string[][]);

/** Opens the browser that buys on carriers' sites, with sandbox cards. @throws `recipe_invalid`, `browser_missing` */
export const openBrowserTier = (sites: CarrierSites, own: Omit<BrowserOptions, 'settings'>): BrowserFulfiller =>
  createBrowserFulfiller({ ...own, settings: { ...sites, cards: createSandboxCards(), dnsTexts } });
