import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { jsonLog } from '../../kernel/log.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type { CarrierSiteOptions, DuffelSandboxOptions, PlatformOptions, ServiceOptions } from '../../service/index.ts';
import { type Cluster, type ClusterSettings, SOLANA_NETWORKS } from '../../solana/index.ts';
import type { Terminal } from '../../terminal/index.ts';
import { type Environment, type Profile, settingsIn } from '../settings/index.ts';

/** Options of `serve` that do not come from the environment. */
export type LocalOptions = Pick<
  ServiceOptions,
  'airlines' | 'log' | 'meter' | 'cluster' | 'isMainnetMeant' | 'stopping' | 'migrating' | 'acceptsChanges'
> & {
  /** The options of the command line, from which settings are read. */
  readonly flags?: object;
  /** True if the partner service takes live keys. */
  readonly live?: boolean | undefined;
};

interface HereGiven {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/** The composition root. */
type Rooms = typeof import('../../service/index.ts');

/** The parts that this process can run itself, each loaded on its first use. */
export function openHere(given: HereGiven, home: string, profile: Profile, rooms: () => Promise<Rooms>) {
  const { environment, clock } = given;
  const setting = settingsIn(environment);
  const openLocal = once(async (options: LocalOptions = {}) => {
    // Commands of the embedded profile run the service with the programs that its settings name.
    const own = profile.isEmbedded ? { cluster: profile } : {};
    return (await rooms()).openService(serviceOptions(given, home, { ...own, ...options }));
  });
  const clusterDesk = once(async (cluster: ClusterSettings) =>
    (await rooms()).openClusterDesk({ home, clock, databaseUrl: setting('database_url'), cluster }),
  );
  return {
    openLocal,
    doors: {
      /** The service of this process, whatever the profile: `serve` and `demo`. */
      openLocal,
      /** The operator's desk for a cluster: at an RPC address, in the settings, or the home's own. */
      clusterDesk,
      /** The sandbox partner platform: `sandbox platform`. */
      openPlatform: async (options: Omit<PlatformOptions, 'home' | 'clock'>) => {
        const [partnerServiceName, stepMs] = [setting('service_name'), setting('platform_step_ms')];
        return (await rooms()).openPlatform({ home, clock, partnerServiceName, stepMs, ...options });
      },
      /** A pretend carrier's web site: `sandbox carrier-site`. */
      openCarrierSite: async (options: Omit<CarrierSiteOptions, 'home' | 'clock' | 'seed'>) =>
        (await rooms()).openCarrierSite({ home, clock, seed: setting('seed'), ...options }),
      /** Recipes of carriers' sites, without the services: `recipe`. */
      recipeDesk: async () => (await rooms()).recipeDesk(),
      /** Trials of recipes: `recipe try`. */
      trialDesk: async () => (await rooms()).trialDesk(),
      /** Recordings to make recipes of: `recipe record`. */
      recordingDesk: async () => (await rooms()).recordingDesk(),
      /** The sandbox of the Duffel API, with its books under the home: `sandbox duffel`. */
      openDuffelSandbox: async (options: Pick<DuffelSandboxOptions, 'webhook'>) =>
        (await rooms()).openDuffelSandbox({
          path: join(home, 'sandbox-duffel.db'),
          clock,
          seed: setting('seed'),
          ...options,
        }),
      /** Pages and mails, as the services send them: `watch`. */
      openNotices: async () => (await rooms()).openNotices(home, notifySettings(setting)),
      /** The database of the services, without them: `db`. */
      databaseDesk: async () =>
        (await rooms()).openDatabaseDesk({
          home,
          databaseUrl: setting('database_url'),
          clock,
          purgeAfterDays: setting('purge_after_days'),
          policyFile: setting('compliance_policy'),
        }),
      /** The cluster of this home, without the services: `serve --cluster-only`. */
      openClusterOnly: async (options: Pick<ServiceOptions, 'log' | 'withoutProgram'>) =>
        (await rooms()).openClusterOnly({ ...options, home, clock }),
    },
    async close() {
      await openLocal.opened()?.then((service) => service.close());
      await clusterDesk.opened()?.then((desk) => desk.close());
    },
  };
}

const LONG_MS = 1_000;

const sayMigrated =
  ({ note }: Terminal) =>
  (steps: readonly string[], tookMs: number): void => {
    if (tookMs > LONG_MS)
      note(`Brought the database up to date in ${Math.round(tookMs / 1_000)} s (${steps.join(', ')}).`);
  };

function serviceOptions(
  { environment, clock, terminal }: HereGiven,
  home: string,
  { flags, live, log, ...options }: LocalOptions,
): ServiceOptions {
  const setting = settingsIn(environment, flags);
  return {
    ...options,
    home,
    clock,
    scenario: setting('scenario'),
    seed: setting('seed'),
    ticketingMs: setting('ticketing_ms'),
    lowcostMs: setting('lowcost_ms'),
    databaseUrl: setting('database_url'),
    migrating: { onMigrated: sayMigrated(terminal), ...options.migrating },
    listenUrl: setting('listen_url'),
    readDatabaseUrl: setting('read_database_url'),
    caps: { perPayment: usdc(setting('cap_per_booking')), perDay: usdc(setting('cap_per_day')) },
    facilitatorUrl: setting('facilitator_url'),
    gatewayKeysFile: setting('gateway_keys'),
    notify: notifySettings(setting),
    mostCreations: setting('most_creations'),
    holdAfterTicketMinutes: setting('hold_after_ticket'),
    purgeAfterDays: setting('purge_after_days'),
    ...partnerSettings(environment, live),
    log: terminal.settings.verbose ? jsonLog((line) => terminal.trace(line), clock.now) : log,
  };
}

/** Opens the cluster that a profile names. @throws Problem `usage`, `cluster_failed`, `genesis_unexpected` */
export async function openRemoteCluster(
  profile: Profile,
  clock: Clock,
  terminal: Pick<Terminal, 'realMoney'>,
): Promise<Cluster> {
  const { openRpcCluster } = await import('../../solana/rpc/index.ts');
  const cluster = await openRpcCluster({ ...profile, urls: rpcUrlsOf(profile), clock });
  if (cluster.network === SOLANA_NETWORKS.mainnet) terminal.realMoney();
  return cluster;
}

/** @throws Problem `usage` for a profile without one */
export function rpcUrlsOf(profile: Profile): readonly string[] {
  if (profile.rpcUrls.length > 0) return profile.rpcUrls;
  throw problem('usage', {
    message: `Profile ${profile.name} names no Solana cluster.`,
    fix: 'Set FARELOCK_RPC_URL (of a farelock serve: its address and /rpc), or rpc_url of the profile.',
  });
}

/** Settings of this process' partner service. @throws Problem `usage` */
export function partnerSettings(
  environment: Environment,
  live: boolean | undefined,
): Pick<ServiceOptions, 'partnerEnvironment' | 'partnerServiceName' | 'partner'> {
  const setting = settingsIn(environment);
  const own = {
    compliancePolicyFile: setting('compliance_policy'),
    attestationMs: setting('attestation_ms'),
    platformStepMs: setting('platform_step_ms'),
    outboundPorts: setting('outbound_ports'),
  };
  const named = setting('environment');
  return {
    partnerEnvironment: live ? 'live' : named,
    partnerServiceName: setting('service_name'),
    partner: Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  };
}

/** Settings of the ways out for pages and mails; undefined if none is set. @throws Problem `usage` */
function notifySettings(setting: ReturnType<typeof settingsIn>): ServiceOptions['notify'] {
  const settings = {
    smtpUrl: setting('smtp_url'),
    mailFrom: setting('mail_from'),
    pageUrl: setting('page_url'),
    telegramToken: setting('telegram_token'),
    telegramChat: setting('telegram_chat'),
  };
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined;
}

const usdc = (amount: string | undefined): bigint | null => (amount === undefined ? null : parseUsdc(amount));
