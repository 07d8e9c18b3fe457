import { join } from 'node:path';
import { sql } from 'kysely';
import { ESCROW_PROGRAM_ID } from '../escrow/index.ts';
import { loadKeys } from '../flights/desk/index.ts';
import { createFlights } from '../flights/index.ts';
import { loadSponsored } from '../flights/offers/index.ts';
import type { Reconciling } from '../flights/reconcile/index.ts';
import type { Connection } from '../http/index.ts';
import { systemClock } from '../kernel/clock.ts';
import { type HttpRequest, type HttpResponse, json } from '../kernel/http.ts';
import { randomIds } from '../kernel/ids.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { noMeter } from '../kernel/meter.ts';
import { once } from '../kernel/once.ts';
import { type Problem, problem, problemBody } from '../kernel/problems.ts';
import { STORAGE_RETRY_S } from '../kernel/storage.ts';
import { loadSettings, loadTransports } from '../notify/index.ts';
import { loadCompliancePolicy } from '../partner/compliance/index.ts';
import { loadOrderPages } from '../partner/orders/index.ts';
import { createOperatorWallets, createPaywall, readyForMoney } from '../payments/index.ts';
import { SOLANA_NETWORKS } from '../solana/index.ts';
import { watchSteps } from '../store/base/index.ts';
import {
  checkDatabaseUrl,
  IDENTITY,
  readMark,
  type StorageWatch,
  storeTrouble,
  watchStorage,
  writeProbe,
} from '../store/index.ts';
import { loadReads, loadWakes, type Reads } from '../store/postgres/index.ts';
import { type Airlines, checkPlayMoney, openAirlines, plannedSellers } from './airlines.ts';
import { type OpenedCluster, openRealCluster } from './cluster.ts';
import type { DatabaseOptions } from './database.ts';
import { type Home, openHome, type ServiceTables } from './home.ts';
import { serviceMigrations } from './migrations.ts';
import { bothRuns, isPartnerPath, lazyPartner } from './partner.ts';
import type { PlatformOptions } from './platform.ts';
import type { Reading } from './readings.ts';
import type { CarrierSiteOptions, DuffelSandboxOptions } from './sandbox.ts';
import type { ServiceOptions, WorkerRun } from './types.ts';

export type { KeyDuty } from '../store/index.ts';
export type {
  ClusterDesk,
  DecidedDeployment,
  DeploymentStep,
  DeploymentWanted,
  InspectedProgram,
  OperatorWallet,
} from './cluster-desk.ts';
export type { DatabaseCheck, DatabaseState } from './database.ts';
export * from './migrations.ts';
export type { Platform, PlatformOptions } from './platform.ts';
export type { Reading } from './readings.ts';
export type { Rotation, RotationStep } from './rotation.ts';
export type { CarrierSiteOptions, DuffelSandbox, DuffelSandboxOptions, ServedCarrierSite } from './sandbox.ts';
export type { AirlineSettings, ServiceOptions, TakingCaps } from './types.ts';

export type Service = Awaited<ReturnType<typeof openService>>;

const processOf = ({ clock = systemClock, log = silentLog, meter = noMeter }: ServiceOptions) => ({
  clock,
  log,
  meter,
  ids: randomIds(clock.now),
});
type Process = ReturnType<typeof processOf>;

/** The composition root: opens both services and the worker of a home, once per process. Parts load on first use. */
export async function openService(options: ServiceOptions) {
  const own = processOf(options);
  const { clock } = own;
  await checkOptions(options);
  const storage = watchStorage(own, () => probes);
  const real = options.cluster?.rpcUrls.length ? await openRealCluster(options.cluster, own) : null;
  await checkTaking(real, options);
  const home = await openHome(options, storage.onTrouble, real);
  const tiers = await joined(home, options, own)
    .then(() => openAirlines(options, own, home, storage))
    .catch(async (error: unknown) => {
      await home.store.destroy();
      await home.cluster.close();
      throw error;
    });
  const { store, cluster, faucet, rpc, pubSub, ledger } = home;
  const { secrets } = home.keys;
  const probes = [writeProbe(store), async () => ledger?.probe()];
  const funding = fundingOf(home);
  const isOwnProgram = faucet !== null && home.program === ESCROW_PROGRAM_ID;
  // The operator learns what is missing before anything is sold.
  if (!isOwnProgram) await checkProgram(home, options);
  if (!faucet) await funding.ready();
  const wakes = options.databaseUrl !== undefined && options.stopping ? await listenForWork(options, own, store) : null;
  const aside = await openAside(options, own, store);
  const reads = aside?.reads;
  const movedOn = loggingOnce(watchSteps(store, serviceMigrations, clock.now), own.log);
  const flights = openFlights(options, own, home, storage, { ...funding, ...tiers, isOwnProgram, movedOn, reads });
  // Checked before anything is served: a process without a worker opens escrows and pays out, too.
  if (options.stopping) await flights.worker.isHeld();
  const partner = lazyPartner({ ...own, store, secrets }, options);
  const { wallets } = flights;
  const readings = once(async () =>
    (await import('./readings.ts')).createReadings({ ...own, store, reads, wallets, movedOn }),
  );
  return {
    async operatorKeyFile(): Promise<string> {
      const { ensureOperatorKeyFile } = await loadKeys();
      return ensureOperatorKeyFile({ store, secrets, clock, ids: own.ids }, join(options.home, 'keys', 'operator.key'));
    },
    /** Makes a demo's partners and their key files now, before the first request to the partner service. */
    partnerReady: (): Promise<void> => partner.ready(),
    /** Serves the flight service, the partner service at its paths, and JSON-RPC at `/rpc`. Opens no port. */
    async fetch(request: HttpRequest, connection: Connection = {}): Promise<HttpResponse> {
      const { pathname } = new URL(request.url);
      // /health needs no database, and /ready checks this itself, within a time limit.
      if (pathname !== '/health' && pathname !== '/ready' && (await movedOn())) return movedOnAnswer();
      if (isPartnerPath(pathname)) return partner.fetch(request, connection);
      if (!rpc || (pathname !== '/rpc' && pathname !== '/rpc/')) return flights.app.fetch(request, connection);
      if (request.trail) request.trail.route = '/rpc';
      return rpc(request);
    },
    cluster,
    /** The first block's hash of a private cluster that is served here; else null. */
    servedGenesis: null as string | null,
    faucet,
    /** The embedded cluster's subscriptions, opened on first use; null on a real cluster. */
    pubSub,
    /** Runs both workers, or the partner service's alone. */
    worker: {
      async runDue(part?: 'partner'): Promise<WorkerRun> {
        if (await movedOn()) return { worked: 0, nextDueAtMs: null };
        return part === 'partner' ? partner.runDue() : bothRuns(flights.worker, partner);
      },
      /** Calls `wake` when another process has new work. */
      onWake: (wake: () => void): void => wakes?.on(wake),
      wakeOthers: (): void => wakes?.send(),
      /** True while other processes' notices arrive: polling is then a fallback. */
      isWoken: (): boolean => wakes?.isHeard() === true,
    },
    /** Compares a restored database with the cluster and the airline. */
    reconcile: async (how: Reconciling) => {
      if (!how.isDryRun) await funding.ready();
      return flights.reconcile(how);
    },
    /** The last storage problem, with its file and reason; null if there was none. */
    trouble: storage.last,
    readings: async (): Promise<readonly Reading[]> => (await readings())(),
    async close(): Promise<void> {
      await wakes?.close();
      await aside?.close();
      await flights.outbox.drain();
      await tiers.close();
      try {
        await home.noteProgress();
      } finally {
        await store.destroy();
        await cluster.close();
      }
    },
  };
}

/** Opens the sandbox partner platform alone: as another company, it shares nothing with the services. */
export const openPlatform = async (options: PlatformOptions) => (await import('./platform.ts')).openPlatform(options);

export const openCarrierSite = async (options: CarrierSiteOptions) =>
  (await import('./sandbox.ts')).openCarrierSite(options);

export const openDuffelSandbox = async (options: DuffelSandboxOptions) =>
  (await import('./sandbox.ts')).openDuffelSandbox(options);

/** Opens the transports of pages and mails alone. @throws Problem `usage` for settings that can't work */
export async function openNotices(home: string, settings: ServiceOptions['notify']) {
  if (settings) (await loadSettings()).checkSettings(settings);
  return (await loadTransports()).createTransports(home, settings);
}

export const recipeDesk = () => import('../airlines/browser/index.ts');

/** Loads trials of recipes, which cannot pay. */
export const trialDesk = () => import('../airlines/browser/trial/index.ts');

/** Loads the recorder of a person's walk through a site. */
export const recordingDesk = () => import('../airlines/browser/recorder/index.ts');

export const openClusterOnly = async (options: ServiceOptions): Promise<Omit<Service, 'reconcile'>> =>
  (await import('./cluster-only.ts')).openClusterOnly(options);

export const openDatabaseDesk = async (options: DatabaseOptions) =>
  (await import('./database.ts')).openDatabaseDesk(options);

export const openClusterDesk = async (options: Pick<ServiceOptions, 'home' | 'clock' | 'databaseUrl' | 'cluster'>) =>
  (await import('./cluster-desk.ts')).openClusterDesk(options);

/** Compares a long-running process with its PostgreSQL's clock and the other processes' settings. @throws Problem */
async function joined(home: Home, options: ServiceOptions, own: Process): Promise<void> {
  if (options.databaseUrl === undefined || !options.stopping) return;
  const { checkClock, joinFleet, sayWhatNeedsDisk } = await import('./fleet.ts');
  await checkClock(home, own);
  await joinFleet(home, options, own);
  sayWhatNeedsDisk(options, own);
}

/** Opens the standby for reads that may be seconds old, if one is set. */
async function openAside(
  { readDatabaseUrl: url, databaseUrl }: ServiceOptions,
  { log }: Process,
  primary: Home['store'],
) {
  if (url === undefined || databaseUrl === undefined) return null;
  return (await loadReads()).openReads({ url, primary, log, ownerIn: (on) => readMark(on, IDENTITY) });
}

async function listenForWork({ databaseUrl, listenUrl }: ServiceOptions, { log }: Process, store: Home['store']) {
  const { openWakes } = await loadWakes();
  let wake = (): void => undefined;
  const wakes = await openWakes({
    url: listenUrl ?? databaseUrl ?? '',
    notify: (statement) => sql.raw(statement).execute(store),
    onWake: () => wake(),
    log,
  });
  return {
    ...wakes,
    on(work: () => void): void {
      wake = work;
    },
  };
}

/** Checks for a newer version's steps and logs them once. An unreachable database fails the calls that need it. */
function loggingOnce(look: () => Promise<Problem | null>, log: Log): () => Promise<boolean> {
  let isLogged = false;
  return async () => {
    const found = await look().catch((error: unknown) => {
      if (!storeTrouble(error)) throw error;
      return null;
    });
    if (found && !isLogged) log('error', found.code, { message: found.message });
    isLogged ||= found !== null;
    return found !== null;
  };
}

/** A newer version runs beside this one, and will answer the next try. */
const movedOnAnswer = () =>
  json(problemBody(problem('not_ready', { retryAfter: STORAGE_RETRY_S })), 503, {
    'Retry-After': String(STORAGE_RETRY_S),
  });

/** Checks the options that can be checked before anything is opened. @throws Problem of the option */
async function checkOptions({ databaseUrl, notify, partner }: ServiceOptions): Promise<void> {
  if (databaseUrl !== undefined) checkDatabaseUrl(databaseUrl);
  if (notify) (await loadSettings()).checkSettings(notify);
  const policyFile = partner?.compliancePolicyFile;
  if (policyFile) (await loadCompliancePolicy()).loadPolicy(policyFile);
}

/** @throws Problem `sandbox_on_mainnet`, `mainnet_not_confirmed`, `real_tickets_for_play_money` */
async function checkTaking(real: OpenedCluster | null, options: ServiceOptions): Promise<void> {
  const [provider] = plannedSellers(options);
  if (real?.cluster.network !== SOLANA_NETWORKS.mainnet) return checkPlayMoney([provider]);
  const { isMainnetMeant = false, caps } = options;
  const { checkMainnetStart } = await import('./program.ts');
  checkMainnetStart({ sellers: plannedSellers(options), isMeant: isMainnetMeant, caps });
}

/** @throws Problem `program_missing`, `program_differs`, `usdc_mint_missing`, `mainnet_not_confirmed` */
async function checkProgram({ cluster, program }: Home, { cluster: settings }: ServiceOptions): Promise<void> {
  const { checkCluster, checkMainnetProgram } = await import('./program.ts');
  const found = await checkCluster(cluster, program);
  if (cluster.network === SOLANA_NETWORKS.mainnet) checkMainnetProgram(found, settings?.upgradeAuthorities ?? []);
}

/** Fills the operator's wallets once, before anything moves money. */
function fundingOf({ cluster, faucet, keys }: Home) {
  let isFilled = false;
  const ready = once(async () => {
    await readyForMoney({
      cluster,
      faucet,
      authority: keys.authority,
      facilitator: keys.facilitator.address,
      treasury: keys.treasury.address,
      mint: cluster.usdcMint,
    });
    isFilled = true;
  });
  return { ready, isFilled: () => isFilled };
}

interface FlightsGiven extends ReturnType<typeof fundingOf>, Airlines {
  readonly isOwnProgram: boolean;
  readonly movedOn: () => Promise<boolean>;
  readonly reads: Reads<ServiceTables> | undefined;
}

function openFlights(
  options: ServiceOptions,
  own: Process,
  { store, cluster, keys, program }: Home,
  storage: StorageWatch,
  { ready, isFilled, provider, lowcost, isOwnProgram, movedOn, reads }: FlightsGiven,
) {
  const { secrets, authority, authorities, facilitator, facilitators, treasury } = keys;
  const { facilitatorUrl, gatewayKeysFile } = options;
  const base = { ...own, store, secrets, cluster };
  const wallets = createOperatorWallets({
    cluster,
    clock: own.clock,
    mint: cluster.usdcMint,
    authority: authority.address,
    facilitator: facilitatorUrl ? null : facilitator.address,
    treasury: treasury.address,
    isFilled,
  });
  const paywall = createPaywall({
    ...base,
    feePayer: facilitator,
    feePayers: facilitators,
    ...{ lender: authority, lenders: authorities },
    wallets,
    ...(facilitatorUrl ? { facilitatorUrl } : {}),
  });
  const watch = once(async () => (await import('./program.ts')).watchProgram(cluster, program, own.clock));
  const { perPayment = null, perDay = null } = options.caps ?? {};
  const flights = createFlights({
    ...base,
    provider,
    lowcost,
    ...{ authority, authorities },
    facilitator: facilitator.address,
    ownWallets: () => [...authorities.seen().all, ...facilitators.seen().all],
    wallets,
    treasury: treasury.address,
    treasurySigner: treasury,
    mint: cluster.usdcMint,
    escrowProgram: program,
    partnerOrdersInError: async (orderId) =>
      (await loadOrderPages()).ordersInError(store, options.partnerEnvironment ?? 'demo', orderId),
    programTrouble: isOwnProgram ? undefined : async () => (await watch())(),
    paywall,
    ready,
    writeTrouble: storage.writeTrouble,
    movedOn,
    reads,
    isStopping: () => options.stopping?.aborted ?? false,
    gatewayKeys:
      gatewayKeysFile === undefined ? undefined : async () => (await loadSponsored()).readGatewayKeys(gatewayKeysFile),
    transports: async () => (await loadTransports()).createTransports(options.home, options.notify),
    options: {
      ...(options.purgeAfterDays !== undefined && { purgeAfterDays: options.purgeAfterDays }),
      ...(options.mostCreations !== undefined && { mostUnpaidCreations: options.mostCreations }),
      holdAfterTicketMs: (options.holdAfterTicketMinutes ?? 0) * 60_000,
      ...(perPayment !== null && { mostTicket: perPayment }),
      mostPerDay: perDay,
      sweepsAtStart: options.stopping !== undefined,
    },
  });
  return { ...flights, wallets };
}
