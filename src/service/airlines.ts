import { join } from 'node:path';
import { sql } from 'kysely';
import type { Fulfiller, Provider } from '../airlines/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { problem } from '../kernel/problems.ts';
import { createSandboxProvider } from '../sandbox/airline/index.ts';
import { createSandboxLowcost } from '../sandbox/lowcost/index.ts';
import { SOLANA_NETWORKS } from '../solana/index.ts';
import { markOnce, type StorageWatch } from '../store/index.ts';
import type { Home } from './home.ts';
import type { AirlineSettings, ServiceOptions } from './types.ts';

/** Both tiers that seats are sold from. */
export interface Airlines {
  readonly provider: Provider;
  readonly lowcost: Fulfiller | null;
  /** Ends what is under way on a carrier's site. */
  close(): Promise<void>;
}

interface AirlinePorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

const nameOf = (lowcost: AirlineSettings['lowcost']): string => (typeof lowcost === 'string' ? lowcost : lowcost.name);

const DEFAULT: AirlineSettings = { provider: 'sandbox', lowcost: 'sandbox' };
/** Only a live token sells journeys that can be flown. */
const isTestToken = (token: string): boolean => !token.startsWith('duffel_live_');

/** What a service will sell from, as far as it is known before anything is opened. */
export function plannedSellers({ airlines = DEFAULT }: ServiceOptions): { name: string; isSandbox: boolean }[] {
  const { provider, lowcost } = airlines;
  return [
    provider === 'sandbox'
      ? { name: 'sandbox', isSandbox: true }
      : { name: provider.name, isSandbox: isTestToken(provider.token) },
    // Also that of real carriers: no card that it has pays anywhere but in a sandbox (browser.ts).
    ...(lowcost === 'none' ? [] : [{ name: nameOf(lowcost), isSandbox: true }]),
  ];
}

/**
 * Opens the airlines of a service. Real ones are loaded when they are chosen.
 * @throws Problem `airline_of_another_service`, `real_tickets_for_play_money`, and what the adapters refuse
 */
export async function openAirlines(
  options: ServiceOptions,
  own: AirlinePorts,
  home: Home,
  storage: StorageWatch,
): Promise<Airlines> {
  const { airlines = DEFAULT } = options;
  await claimAirlines(home, airlines);
  const sandbox = {
    seed: options.seed ?? 'farelock',
    clock: own.clock,
    scenario: options.scenario ?? 'none',
    ticketingMs: options.ticketingMs ?? 2000,
    // The records of both tiers share a file.
    orders: join(options.home, 'sandbox-airline.db'),
    onTrouble: storage.onTrouble,
  };
  const { provider, lowcost } = airlines;
  const browser =
    typeof lowcost === 'string' ? null : (await import('./browser.ts')).openBrowserTier(lowcost.sites, own, home);
  const opened: Airlines = {
    provider: provider === 'sandbox' ? createSandboxProvider(sandbox) : await openDuffel(provider, own, home),
    lowcost:
      lowcost === 'sandbox' ? createSandboxLowcost({ ...sandbox, quotingMs: options.lowcostMs ?? 2500 }) : browser,
    close: async () => browser?.close(),
  };
  if (home.cluster.network !== SOLANA_NETWORKS.mainnet) checkPlayMoney([opened.provider, opened.lowcost]);
  return opened;
}

/** A ticket that can be flown is not sold for play money. @throws Problem `real_tickets_for_play_money` */
export function checkPlayMoney(
  sellers: readonly ({ readonly name: string; readonly isSandbox: boolean } | null | undefined)[],
): void {
  const real = sellers.find((one) => one && !one.isSandbox);
  if (real) throw problem('real_tickets_for_play_money', { detail: { provider: real.name } });
}

const MARKS = { provider: 'airlines:provider', lowcost: 'airlines:lowcost' } as const;

/**
 * Marks a database with the real airlines that it sells from, or holds them against its marks: asked of another airline,
 * an order that was made would seem never to have been. A sandbox leaves no mark.
 * @throws Problem `airline_of_another_service`
 */
async function claimAirlines({ store }: Home, { provider, lowcost }: AirlineSettings): Promise<void> {
  const mine = {
    provider: provider === 'sandbox' ? 'sandbox' : `${provider.name}:${isTestToken(provider.token) ? 'test' : 'live'}`,
    lowcost: nameOf(lowcost),
  };
  const { rows } = await sql<{ key: string; value: string }>`select key, value from meta
    where key in (${MARKS.provider}, ${MARKS.lowcost})`.execute(store);
  for (const tier of ['provider', 'lowcost'] as const) {
    const name = mine[tier];
    // Without a tier nothing of it is asked, nor sold.
    if (name === 'none') continue;
    const known = rows.find(({ key }) => key === MARKS[tier])?.value;
    const kept = known ?? (name === 'sandbox' ? name : await markOnce(store, MARKS[tier], name));
    if (kept === name) continue;
    throw problem('airline_of_another_service', {
      message: `The bookings of this home are with ${kept}, not with ${name}.`,
      detail: { tier, kept, given: name },
    });
  }
}

type DuffelSettings = Exclude<AirlineSettings['provider'], 'sandbox'>;

async function openDuffel(
  { url, token, webhookSecret }: DuffelSettings,
  own: AirlinePorts,
  { store }: Home,
): Promise<Provider> {
  const { createDuffelProvider } = await import('../airlines/duffel/index.ts');
  return createDuffelProvider({ ...own, url, token, store, webhookSecret });
}
