import type { Kysely } from 'kysely';
import type { DuffelSettings, DuffelTables } from '../airlines/duffel/index.ts';
import type { Provider } from '../airlines/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { PROVIDERS } from '../kernel/domain/providers.ts';
import type { Log } from '../kernel/log.ts';

export interface AirlineTables extends DuffelTables {}

interface Ports {
  readonly clock: Clock;
  readonly log: Log;
  readonly store: Kysely<AirlineTables>;
}

interface Choice {
  /** True if it sells journeys that can be flown. */
  readonly isLive: boolean;
  open(ports: Ports): Promise<Provider>;
}

/** Providers of real airlines, loaded when chosen. A new one needs a line here and a name in `PROVIDERS`. */
const CHOICES = {
  duffel: (settings: DuffelSettings): Choice => ({
    isLive: settings.token.startsWith('duffel_live_'),
    open: async (ports) =>
      (await import('../airlines/duffel/index.ts')).createDuffelProvider({ ...ports, ...settings }),
  }),
} satisfies Record<Exclude<(typeof PROVIDERS)[number], 'sandbox'>, unknown>;

type Providers = typeof CHOICES;
export type ProviderSettings = {
  [Name in keyof Providers]: { readonly name: Name } & Parameters<Providers[Name]>[0];
}[keyof Providers];

export const providerOf = (settings: ProviderSettings): Choice =>
  (CHOICES[settings.name] as (settings: ProviderSettings) => Choice)(settings);
