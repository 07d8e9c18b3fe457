import { join } from 'node:path';
import { sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { type Meter, timed } from '../kernel/meter.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { createSandboxProvider } from '../sandbox/airline/index.ts';
import { createSandboxLowcost } from '../sandbox/lowcost/index.ts';
import { SOLANA_NETWORKS } from '../solana/index.ts';
import { markOnce, type StorageWatch } from '../store/index.ts';
import type { Home } from './home.ts';
import { providerOf } from './providers.ts';
import type { AirlineSettings, ServiceOptions } from './types.ts';

export type Airlines = Awaited<ReturnType<typeof openAirlines>>;

const nameOf = (tier: AirlineSettings['provider' | 'lowcost']): string => (typeof tier === 'string' ? tier : tier.name);

const isLive = (provider: AirlineSettings['provider']): boolean =>
  provider !== 'sandbox' && providerOf(provider).isLive;

const DEFAULT: AirlineSettings = { provider: 'sandbox', lowcost: 'sandbox' };

export function plannedSellers({ airlines = DEFAULT }: ServiceOptions): { name: string; isSandbox: boolean }[] {
  const { provider, lowcost } = airlines;
  return [
    { name: nameOf(provider), isSandbox: !isLive(provider) },
    // Even on real carriers' sites this counts as a sandbox: its cards pay only in one (browser.ts).
    ...(lowcost === 'none' ? [] : [{ name: nameOf(lowcost), isSandbox: true }]),
  ];
}

/** @throws Problem `airline_of_another_service`, `real_tickets_for_play_money` */
export async function openAirlines(
  options: ServiceOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  home: Home,
  storage: StorageWatch,
) {
  const { airlines = DEFAULT } = options;
  await claimAirlines(home, airlines);
  const sandbox = {
    seed: options.seed ?? 'farelock',
    clock,
    scenario: options.scenario ?? 'none',
    ticketingMs: options.ticketingMs ?? 2000,
    // The records of both tiers share a file.
    orders: join(options.home, 'sandbox-airline.db'),
    onTrouble: storage.onTrouble,
  };
  const { provider, lowcost } = airlines;
  const own = { clock, log, store: home.store };
  const browser =
    typeof lowcost === 'string'
      ? null
      : (await import('./browser.ts')).openBrowserTier(lowcost.sites, { ...own, secrets: home.keys.secrets });
  const opened = {
    provider: provider === 'sandbox' ? createSandboxProvider(sandbox) : await providerOf(provider).open(own),
    lowcost:
      lowcost === 'sandbox' ? createSandboxLowcost({ ...sandbox, quotingMs: options.lowcostMs ?? 2500 }) : browser,
    close: async () => browser?.close(),
  };
  if (home.cluster.network !== SOLANA_NETWORKS.mainnet) checkPlayMoney([opened.provider, opened.lowcost]);
  return {
    ...opened,
    provider: metered(opened.provider, options.meter),
    lowcost: opened.lowcost && metered(opened.lowcost, options.meter),
  };
}

/** Measures asynchronous calls, except `trouble`, which is called often and mostly answers from memory. */
function metered<Port extends { readonly name: string }>(port: Port, meter: Meter | undefined): Port {
  if (!meter) return port;
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'trouble') return value;
      return (...given: unknown[]) => {
        const answer: unknown = value.apply(target, given);
        if (!(answer instanceof Promise)) return answer;
        return timed(
          () => answer,
          (error, seconds) =>
            meter('airline', { airline: port.name, call: String(name), result: resultOf(error) }, seconds),
        );
      };
    },
  });
}

const resultOf = (error: unknown): string => (error === undefined ? 'ok' : isProblem(error) ? error.code : 'error');

/** Refuses to sell real tickets for play money. @throws Problem `real_tickets_for_play_money` */
export function checkPlayMoney(
  sellers: readonly ({ readonly name: string; readonly isSandbox: boolean } | null | undefined)[],
): void {
  const real = sellers.find((one) => one && !one.isSandbox);
  if (real) throw problem('real_tickets_for_play_money', { detail: { provider: real.name } });
}

const MARKS = { provider: 'airlines:provider', lowcost: 'airlines:lowcost' } as const;

/** Marks a database with its airlines, or compares: others lack its orders. @throws `airline_of_another_service` */
async function claimAirlines({ store }: Home, { provider, lowcost }: AirlineSettings): Promise<void> {
  const mine = {
    provider: provider === 'sandbox' ? 'sandbox' : `${provider.name}:${isLive(provider) ? 'live' : 'test'}`,
    lowcost: nameOf(lowcost),
  };
  const { rows } = await sql<{ key: string; value: string }>`select key, value from meta
    where key in (${MARKS.provider}, ${MARKS.lowcost})`.execute(store);
  for (const tier of ['provider', 'lowcost'] as const) {
    const name = mine[tier];
    // A tier that is off sells nothing, so it leaves no mark.
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
