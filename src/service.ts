import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { EARLIER_ESCROW_ELFS, escrowElf } from './escrow/elf.ts';
import { ESCROW_PROGRAM_ID } from './escrow/program.ts';
import { createFlights } from './flights/index.ts';
import { createSandboxLowcost } from './flights/providers/lowcost/sandbox/index.ts';
import { createSandboxProvider } from './flights/providers/sandbox/index.ts';
import { systemClock } from './kernel/clock.ts';
import { randomIds } from './kernel/ids.ts';
import { silentLog } from './kernel/log.ts';
import { isProblem } from './kernel/problems.ts';
import { openSecrets } from './kernel/secrets.ts';
import { createOperatorWallets } from './payments/operator-wallets.ts';
import { createPaywall } from './payments/paywall.ts';
import { readyForMoney } from './payments/readiness.ts';
import { bothRuns, isPartnerPath, lazyPartner } from './service-partner.ts';
import type { OpenPlatform, OpenService, ServiceOptions } from './service-types.ts';
import { type Cluster, DEVNET_USDC, type Faucet, MAINNET_USDC, SOLANA_NETWORKS } from './solana/cluster.ts';
import { openEmbeddedCluster } from './solana/embedded/open.ts';
import { createKeypairFile, readOwnKeypair, type Signer } from './solana/keypair.ts';
import { checkDatabaseUrl, openStore } from './store/open.ts';

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
  if (policyFile) (await import('./partner/policy.ts')).loadPolicy(policyFile);
  const keys = join(options.home, 'keys');
  const secrets = openSecrets(join(keys, 'service.json'));
  const authority = operatorKey(join(keys, 'authority.json'));
  const facilitator = operatorKey(join(keys, 'facilitator.json'));
  const treasury = operatorKey(join(keys, 'treasury.json'));
  const { cluster, faucet, rpc } = await openCluster(options);
  const store = await openStore(options.databaseUrl ?? join(options.home, 'service.db'));
  const mint = cluster.network === SOLANA_NETWORKS.mainnet ? MAINNET_USDC : DEVNET_USDC;
  let isFilled = false;
  const ready = onceUntilDone(async () => {
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
  });
  const lowcost = createSandboxLowcost({
    seed: options.seed ?? 'farelock',
    clock,
    scenario: options.scenario ?? 'none',
    ticketingMs: options.ticketingMs ?? 2000,
    quotingMs: options.lowcostMs ?? 2500,
    orders: join(options.home, 'sandbox-airline.db'),
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
    gatewayKeys: options.gatewayKeysFile === undefined ? undefined : gatewayKeys(options.gatewayKeysFile),
    transports: async () =>
      (await import('./notify/transports.ts')).createTransports(options.home, options.notify),
    options: options.purgeAfterDays === undefined ? {} : { purgeAfterDays: options.purgeAfterDays },
  });

  const partner = lazyPartner({ store, secrets, clock, ids, log }, options);

  return {
    async operatorKeyFile() {
      const { ensureOperatorKeyFile } = await import('./flights/operator-keys.ts');
      return ensureOperatorKeyFile({ store, secrets, clock, ids }, join(keys, 'operator.key'));
    },
    partnerReady: () => partner.ready(),
    async fetch(request, connection = {}) {
      const { pathname } = new URL(request.url);
      if (isPartnerPath(pathname)) return partner.fetch(request, connection);
      // Whatever moves money, a GET of an order included, comes with a payment or in a POST.
      const needsMoney = request.method !== 'GET' || request.headers.has('payment-signature');
      if (needsMoney || pathname === '/ready') await ready();
      return rpc && (pathname === '/rpc' || pathname === '/rpc/')
        ? rpc(request)
        : flights.app.fetch(request, connection);
    },
    cluster,
    faucet,
    worker: {
      runDue: (part) => (part === 'partner' ? partner.runDue() : bothRuns(flights.worker, partner)),
    },
    async close() {
      await flights.outbox.drain();
      await store.destroy();
      await cluster.close();
    },
  };
};

/** The sandbox partner platform, by itself: it is another company's, and shares nothing with the services. */
export const openPlatform: OpenPlatform = async (options) =>
  (await import('./service-platform.ts')).openPlatform(options);

/** Runs `work` until it has succeeded once; callers meanwhile wait for the same run. */
function onceUntilDone(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work().catch((error) => {
      running = null;
      throw error;
    });
    return running;
  };
}

const gatewayKeys = (path: string) => async () =>
  (await import('./flights/sponsored.ts')).readGatewayKeys(path);

/** A key of the operator's own, made on first use. Of two processes that start at once, both use the first one's. */
function operatorKey(path: string): Signer {
  try {
    return readOwnKeypair(path);
  } catch (error) {
    if (!isProblem(error, 'no_wallet')) throw error;
  }
  try {
    return createKeypairFile(path);
  } catch (error) {
    if (!isProblem(error, 'keypair_exists')) throw error;
    return readOwnKeypair(path);
  }
}

interface OpenedCluster {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  /** Serves the embedded cluster to other tools; a real one has its own address. */
  readonly rpc: ((request: Request) => Promise<Response>) | null;
}

async function openCluster({ home, clock = systemClock, rpcUrl }: ServiceOptions): Promise<OpenedCluster> {
  if (rpcUrl) {
    const { openRpcCluster } = await import('./solana/rpc/open.ts');
    return { cluster: await openRpcCluster({ url: rpcUrl, clock }), faucet: null, rpc: null };
  }
  const cluster = await openEmbeddedCluster({
    path: join(home, 'ledger.db'),
    clock,
    programs: [{ address: ESCROW_PROGRAM_ID as Address, elf: escrowElf, replaces: EARLIER_ESCROW_ELFS }],
  });
  let jsonRpc: Promise<(request: Request) => Promise<Response>> | undefined;
  const rpc = async (request: Request) => {
    jsonRpc ??= import('./solana/json-rpc/index.ts').then(({ createJsonRpc }) => createJsonRpc(cluster));
    return (await jsonRpc)(request);
  };
  return { cluster, faucet: cluster, rpc };
}
