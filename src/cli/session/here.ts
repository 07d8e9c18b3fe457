import { join, resolve } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { jsonLog } from '../../kernel/log.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { once } from '../../kernel/once.ts';
import { problem } from '../../kernel/problems.ts';
import type {
  CarrierSiteOptions,
  DuffelSandboxOptions,
  OpenCarrierSite,
  OpenClusterDesk,
  OpenDuffelSandbox,
  OpenPlatform,
  OpenService,
  PlatformOptions,
  ServiceOptions,
  TakingCaps,
} from '../../service/index.ts';
import { type Cluster, type ClusterSettings, SOLANA_NETWORKS } from '../../solana/index.ts';
import type { Terminal } from '../../terminal/index.ts';
import { type Environment, type Profile, secret } from '../settings/index.ts';
import { scenarioNamed } from './scenarios.ts';

/** Options of `serve` beyond the environment. */
export type LocalOptions = Pick<
  ServiceOptions,
  'scenario' | 'airlines' | 'log' | 'databaseUrl' | 'cluster' | 'isMainnetMeant' | 'facilitatorUrl' | 'stopping'
> & {
  /** The partner service takes live keys. */
  readonly live?: boolean | undefined;
};

interface HereGiven {
  readonly environment: Environment;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/** The composition root, as far as a session opens it. */
interface Rooms {
  readonly openService: OpenService;
  readonly openPlatform: OpenPlatform;
  readonly openCarrierSite: OpenCarrierSite;
  readonly openDuffelSandbox: OpenDuffelSandbox;
  readonly openClusterOnly: OpenService;
  readonly openClusterDesk: OpenClusterDesk;
}

/** What this process can run itself, each loaded when it is first asked for. */
export function openHere(given: HereGiven, home: string, profile: Profile, rooms: () => Promise<Rooms>) {
  const { environment, clock } = given;
  const openLocal = once(async (options: LocalOptions = {}) => {
    // Commands of the embedded profile run the service with the programs that its settings name.
    const own = profile.isEmbedded ? { cluster: profile } : {};
    return (await rooms()).openService(serviceOptions(given, home, { ...own, ...options }));
  });
  const clusterDesk = once(async (cluster: ClusterSettings) =>
    (await rooms()).openClusterDesk({
      home,
      clock,
      databaseUrl: secret(environment, 'FARELOCK_DATABASE_URL'),
      cluster,
    }),
  );
  return {
    openLocal,
    doors: {
      openLocal,
      clusterDesk,
      openPlatform: async (options: Omit<PlatformOptions, 'home' | 'clock'>) =>
        (await rooms()).openPlatform(platformOptions(given, home, options)),
      openCarrierSite: async (options: Omit<CarrierSiteOptions, 'home' | 'clock' | 'seed'>) =>
        (await rooms()).openCarrierSite({ home, clock, seed: environment.FARELOCK_SEED || undefined, ...options }),
      openDuffelSandbox: async (options: Pick<DuffelSandboxOptions, 'webhook'>) =>
        (await rooms()).openDuffelSandbox({
          path: join(home, 'sandbox-duffel.db'),
          clock,
          seed: environment.FARELOCK_SEED || undefined,
          ...options,
        }),
      openClusterOnly: async (options: Pick<ServiceOptions, 'log' | 'withoutProgram'>) =>
        (await rooms()).openClusterOnly({ ...options, home, clock }),
    },
    async close() {
      await openLocal.opened()?.then((service) => service.close());
      await clusterDesk.opened()?.then((desk) => desk.close());
    },
  };
}

function serviceOptions(
  { environment, clock, terminal }: HereGiven,
  home: string,
  options: LocalOptions,
): ServiceOptions {
  const scenario = environment.FARELOCK_SCENARIO;
  return {
    home,
    clock,
    scenario: options.scenario ?? (scenario ? scenarioNamed(scenario) : undefined),
    airlines: options.airlines,
    seed: environment.FARELOCK_SEED || undefined,
    ticketingMs: millisecondsOf(environment, 'FARELOCK_TICKETING_MS', 2000),
    lowcostMs: millisecondsOf(environment, 'FARELOCK_LOWCOST_MS', 2500),
    databaseUrl: options.databaseUrl ?? secret(environment, 'FARELOCK_DATABASE_URL'),
    cluster: options.cluster,
    isMainnetMeant: options.isMainnetMeant,
    stopping: options.stopping,
    caps: takingCaps(environment),
    facilitatorUrl: options.facilitatorUrl ?? secret(environment, 'FARELOCK_FACILITATOR_URL'),
    gatewayKeysFile: environment.FARELOCK_GATEWAY_KEYS || undefined,
    notify: notifySettings(environment),
    purgeAfterDays: purgeAfterDays(environment),
    ...partnerSettings(environment, options.live),
    log: terminal.settings.verbose ? jsonLog((line) => terminal.trace(line), clock.now) : options.log,
  };
}

const platformOptions = (
  { environment, clock }: HereGiven,
  home: string,
  options: Omit<PlatformOptions, 'home' | 'clock'>,
): PlatformOptions => ({
  home,
  clock,
  partnerServiceName: environment.FARELOCK_SERVICE_NAME || undefined,
  stepMs: millisecondsOf(environment, 'FARELOCK_PLATFORM_STEP_MS', 1500),
  ...options,
});

function millisecondsOf(
  environment: Environment,
  name: 'FARELOCK_TICKETING_MS' | 'FARELOCK_LOWCOST_MS' | 'FARELOCK_PLATFORM_STEP_MS',
  usual: number,
): number | undefined {
  const text = environment[name];
  if (!text) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw problem('usage', {
    message: `${name} is not a number of milliseconds: ${text}.`,
    fix: `Set it to ${usual}, or unset it.`,
  });
}

/** The most that a service takes, in USDC. @throws Problem `usage` */
function takingCaps(environment: Environment): TakingCaps {
  const read = (name: 'FARELOCK_CAP_PER_BOOKING' | 'FARELOCK_CAP_PER_DAY'): bigint | null => {
    const text = environment[name];
    if (!text) return null;
    if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return parseUsdc(text);
    throw problem('usage', { message: `${name} is not an amount of USDC.`, fix: 'Set it to one such as 2000.' });
  };
  return { perPayment: read('FARELOCK_CAP_PER_BOOKING'), perDay: read('FARELOCK_CAP_PER_DAY') };
}

/** The cluster that a profile names. @throws Problem `usage`, `cluster_failed`, `genesis_unexpected` */
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

/**
 * Where pages and mails go, from the environment; undefined when nothing is set.
 * @throws Problem `usage`
 */
function notifySettings(environment: Environment): ServiceOptions['notify'] {
  const settings = {
    smtpUrl: secret(environment, 'FARELOCK_SMTP_URL'),
    mailFrom: environment.FARELOCK_MAIL_FROM?.trim() || undefined,
    pageUrl: secret(environment, 'FARELOCK_PAGE_URL'),
    telegramToken: secret(environment, 'FARELOCK_TELEGRAM_TOKEN'),
    telegramChat: environment.FARELOCK_TELEGRAM_CHAT?.trim() || undefined,
  };
  return Object.values(settings).some((value) => value !== undefined) ? settings : undefined;
}

/**
 * Days after a journey until its personal data goes; undefined when it isn't set.
 * @throws Problem `usage`
 */
function purgeAfterDays(environment: Environment): number | undefined {
  const text = environment.FARELOCK_PURGE_AFTER_DAYS;
  if (!text) return undefined;
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw problem('usage', {
    message: `FARELOCK_PURGE_AFTER_DAYS is not a number of days: ${text}.`,
    fix: 'Set it to 30, or unset it.',
  });
}

/**
 * Settings of this process' partner service from the environment: FARELOCK_ENVIRONMENT, FARELOCK_SERVICE_NAME,
 * FARELOCK_COMPLIANCE_POLICY, FARELOCK_ATTESTATION_MS, FARELOCK_PLATFORM_STEP_MS, FARELOCK_OUTBOUND_PORTS. @throws Problem `usage`
 */
export function partnerSettings(
  environment: Environment,
  live: boolean | undefined,
): Pick<ServiceOptions, 'partnerEnvironment' | 'partnerServiceName' | 'partner'> {
  const named = environment.FARELOCK_ENVIRONMENT || undefined;
  if (named !== undefined && named !== 'demo' && named !== 'live')
    throw refused('FARELOCK_ENVIRONMENT', named, 'demo or live', 'demo');
  const service = environment.FARELOCK_SERVICE_NAME || undefined;
  if (service !== undefined && !/^[a-z][a-z0-9_]{0,39}$/.test(service))
    throw refused('FARELOCK_SERVICE_NAME', service, 'a word of lower-case letters, digits and _', 'farelock');
  const attestationMs = milliseconds(environment, 'FARELOCK_ATTESTATION_MS', 2000);
  const platformStepMs = milliseconds(environment, 'FARELOCK_PLATFORM_STEP_MS', 1500);
  const ports = environment.FARELOCK_OUTBOUND_PORTS || undefined;
  if (ports !== undefined && !/^\d{1,5}(,\d{1,5})*$/.test(ports))
    throw refused('FARELOCK_OUTBOUND_PORTS', ports, 'a list of ports separated by commas', '9443');
  const policy = environment.FARELOCK_COMPLIANCE_POLICY || undefined;
  return {
    partnerEnvironment: live ? 'live' : named,
    partnerServiceName: service,
    partner: {
      ...(policy === undefined ? {} : { compliancePolicyFile: resolve(policy) }),
      ...(attestationMs === undefined ? {} : { attestationMs }),
      ...(platformStepMs === undefined ? {} : { platformStepMs }),
      ...(ports === undefined ? {} : { outboundPorts: ports.split(',').map(Number) }),
    },
  };
}

const refused = (name: string, given: string, wanted: string, example: string) =>
  problem('usage', { message: `${name} is not ${wanted}: ${given}.`, fix: `Set it to ${example}, or unset it.` });

function milliseconds(environment: Environment, name: string, example: number): number | undefined {
  const given = environment[name] || undefined;
  if (given !== undefined && !/^\d{1,9}$/.test(given))
    throw refused(name, given, 'a number of milliseconds', String(example));
  return given === undefined ? undefined : Number(given);
}
