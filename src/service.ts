import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { EARLIER_ESCROW_ELFS, escrowElf } from './escrow/elf.ts';
import { ESCROW_PROGRAM_ID } from './escrow/program.ts';
import { createFlights } from './flights/index.ts';
import { type Clock, systemClock } from './kernel/clock.ts';
import { randomIds } from './kernel/ids.ts';
import { silentLog } from './kernel/log.ts';
import { once } from './kernel/once.ts';
import { problem } from './kernel/problems.ts';
import { createOperatorWallets } from './payments/operator-wallets.ts';
import { createPaywall } from './payments/paywall.ts';
import { readyForMoney } from './payments/readiness.ts';
import { createSandboxProvider } from './sandbox/airline/index.ts';
import { createSandboxLowcost } from './sandbox/lowcost/index.ts';
import { belongingOf, checkLedger, claimDatabase, openKeys } from './service-home.ts';
import { bothRuns, isPartnerPath, lazyPartner } from './service-partner.ts';
import type { OpenPlatform, OpenService, ServiceOptions } from './service-types.ts';
import { type Cluster, DEVNET_USDC, type Faucet, SOLANA_NETWORKS } from './solana/cluster.ts';
import { type EmbeddedCluster, openEmbeddedCluster } from './solana/embedded/open.ts';
import type { SeenLedger } from './store/identity.ts';
import type { OnTrouble } from './store/libsql.ts';
import { noteLedger } from './store/marks.ts';
import { checkDatabaseUrl, openStore, type Store } from './store/open.ts';
import { storeTrouble } from './store/trouble.ts';
import { watchStorage, writeProbe } from './store/watch.ts';

/**
 * The composition root: a home on the disk in, both services and the worker out. Nothing wakes up that a call does
 * not need: the ledger's executor, the payment protocol and the airline's own database are opened when first used.
 */
export const openService: OpenService = async (options) => {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? silentLog;
  const ids = randomIds(clock.now);
  if (options.databaseUrl !== undefined) checkDatabaseUrl(options.databaseUrl);
  if (options.notify) (await import('./notify/settings.ts')).checkSettings(options.notify);
  const policyFile = options.partner?.compliancePolicyFile;
  if (policyFile) (await import('./partner/compliance/policy.ts')).loadPolicy(policyFile);
  const real = options.rpcUrl === undefined ? null : await openRealCluster(options.rpcUrl, clock);
  const storage = watchStorage({ clock, log }, () => probes);
  const opened = await openHome(options, storage.onTrouble, real);
  const { store, keys, cluster, faucet, rpc, ledger } = opened;
  const { secrets, authority, facilitator, treasury } = keys;
  const probes = [writeProbe(store), async () => ledger?.probe()];
  const mint = DEVNET_USDC;
  let isFilled = false;
  const ready = once(async () => {
    await readyForMoney({
      cluster,
      faucet,
      authority,
      facilitator: facilitator.address,
      treasury: treasury.address,
      mint,
    });
    isFilled = true;
  });
  // On a cluster of somebody else's, an operator is told at once what is missing.
  if (!faucet) await ready();

  const provider = createSandboxProvider({
    seed: options.seed ?? 'farelock',
    clock,
    scenario: options.scenario ?? 'none',
    ticketingMs: options.ticketingMs ?? 2000,
    orders: join(options.home, 'sandbox-airline.db'),
    onTrouble: storage.onTrouble,
  });
  const lowcost = createSandboxLowcost({
    seed: options.seed ?? 'farelock',
    clock,
    scenario: options.scenario ?? 'none',
    ticketingMs: options.ticketingMs ?? 2000,
    quotingMs: options.lowcostMs ?? 2500,
    orders: join(options.home, 'sandbox-airline.db'),
    onTrouble: storage.onTrouble,
  });
  const wallets = createOperatorWallets({
    cluster,
    clock,
    mint,
    authority: authority.address,
    facilitator: options.facilitatorUrl ? null : facilitator.address,
    treasury: treasury.address,
    isFilled: () => isFilled,
  });
  const paywall = createPaywall({
    store,
    secrets,
    cluster,
    clock,
    ids,
    feePayer: facilitator,
    wallets,
    log,
    ...(options.facilitatorUrl ? { facilitatorUrl: options.facilitatorUrl } : {}),
  });
  const flights = createFlights({
    store,
    secrets,
    cluster,
    clock,
    ids,
    log,
    provider,
    lowcost,
    authority,
    facilitator: facilitator.address,
    wallets,
    treasury: treasury.address,
    treasurySigner: treasury,
    mint,
    paywall,
    ready,
    writable: storage.writable,
    gatewayKeys: options.gatewayKeysFile === undefined ? undefined : gatewayKeys(options.gatewayKeysFile),
    transports: async () =>
      (await import('./notify/transports.ts')).createTransports(options.home, options.notify),
    options: options.purgeAfterDays === undefined ? {} : { purgeAfterDays: options.purgeAfterDays },
  });

  const partner = lazyPartner({ store, secrets, clock, ids, log }, options);

  return {
    async operatorKeyFile() {
      const { ensureOperatorKeyFile } = await import('./flights/desk/keys.ts');
      return ensureOperatorKeyFile(
        { store, secrets, clock, ids },
        join(options.home, 'keys', 'operator.key'),
      );
    },
    partnerReady: () => partner.ready(),
    async fetch(request, connection = {}) {
      const { pathname } = new URL(request.url);
      if (isPartnerPath(pathname)) return partner.fetch(request, connection);
      return rpc && (pathname === '/rpc' || pathname === '/rpc/')
        ? rpc(request)
        : flights.app.fetch(request, connection);
    },
    cluster,
    faucet,
    worker: {
      runDue: (part) => (part === 'partner' ? partner.runDue() : bothRuns(flights.worker, partner)),
    },
    trouble: storage.last,
    async close() {
      await flights.outbox.drain();
      try {
        await opened.noteProgress();
      } finally {
        await store.destroy();
        await cluster.close();
      }
    },
  };
};

/** The sandbox partner platform, by itself: it is another company's, and shares nothing with the services. */
export const openPlatform: OpenPlatform = async (options) =>
  (await import('./service-platform.ts')).openPlatform(options);

const gatewayKeys = (path: string) => async () =>
  (await import('./flights/intents/sponsored.ts')).readGatewayKeys(path);

/**
 * The database, the keys and the cluster of a home, held against each other before anything is made or moved.
 * @throws Problem `database_of_another_home`, `ledger_lost`, `database_newer`, `database_unavailable`, of storage
 */
async function openHome(options: ServiceOptions, onTrouble: OnTrouble, real: OpenedCluster | null) {
  const { home } = options;
  const store = await openStore(options.databaseUrl ?? join(home, 'service.db'), onTrouble);
  try {
    const belonging = await belongingOf(store);
    const keys = openKeys(home, belonging);
    const opened = real ?? (await openEmbedded(options, onTrouble, () => checkLedger(home, belonging, null)));
    const { cluster, ledger } = opened;
    const facts = ledger && {
      id: ledger.ledgerId,
      transactions: ledger.ledger.transactionCount(),
      landed: (signature: string) => ledger.ledger.landed(signature) !== null,
    };
    if (facts) checkLedger(home, belonging, facts);
    await claimDatabase(store, home, keys, {
      network: cluster.network,
      program: ESCROW_PROGRAM_ID,
      ledger: ledger?.ledgerId ?? null,
    });
    if (!ledger) return { ...opened, store, keys, noteProgress: async () => undefined };
    const noteProgress = progressNotes(store, belonging.seen, () => ({
      ledger: ledger.ledgerId,
      seq: ledger.ledger.transactionCount(),
    }));
    return { ...opened, store, keys, noteProgress };
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

/**
 * Notes how far the ledger has come, where it has come further than is known. Where that cannot be written down, what
 * was done is done all the same: the trouble is logged, and the next process notes it.
 */
function progressNotes(store: Store, known: SeenLedger | null, now: () => SeenLedger) {
  return async () => {
    const seen = now();
    if (seen.seq <= (known?.seq ?? 0)) return;
    await noteLedger(store, seen).catch((error: unknown) => {
      if (!storeTrouble(error)) throw error;
    });
  };
}

interface OpenedCluster {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  /** Serves the embedded cluster to other tools; a real one has its own address. */
  readonly rpc: ((request: Request) => Promise<Response>) | null;
  /** The embedded cluster's file; null for a real one. */
  readonly ledger: EmbeddedCluster | null;
}

/**
 * A cluster of somebody else's, held to the network that it is on when it is opened. Mainnet is refused before a key is
 * made: nothing here sells a flight that exists, so nothing here takes money that does.
 * @throws Problem `sandbox_on_mainnet`, `cluster_failed`
 */
async function openRealCluster(url: string, clock: Clock): Promise<OpenedCluster> {
  const [{ openRpcCluster }, { heldToItsNetwork }] = await Promise.all([
    import('./solana/rpc/open.ts'),
    import('./solana/same-cluster.ts'),
  ]);
  const open = () => openRpcCluster({ url, clock });
  const cluster = heldToItsNetwork(await open(), {
    now: clock.now,
    networkNow: async () => (await open()).network,
  });
  if (cluster.network === SOLANA_NETWORKS.mainnet)
    throw problem('sandbox_on_mainnet', { next: ['farelock serve'] });
  return { cluster, faucet: null, rpc: null, ledger: null };
}

async function openEmbedded(
  { home, clock = systemClock, log = silentLog }: ServiceOptions,
  onTrouble: OnTrouble,
  ifMissing: () => void,
): Promise<OpenedCluster & { readonly ledger: EmbeddedCluster }> {
  const cluster = await openEmbeddedCluster({
    path: join(home, 'ledger.db'),
    clock,
    programs: [{ address: ESCROW_PROGRAM_ID as Address, elf: escrowElf, replaces: EARLIER_ESCROW_ELFS }],
    onTrouble,
    ifMissing,
  });
  const jsonRpc = once(async () =>
    (await import('./solana/json-rpc/index.ts')).createJsonRpc(cluster, { log }),
  );
  const rpc = async (request: Request) => (await jsonRpc())(request);
  return { cluster, faucet: cluster, rpc, ledger: cluster };
}
