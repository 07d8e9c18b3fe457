import { work } from '../../../src/cli/commands/serve/run.ts';
import type { CommandContext } from '../../../src/cli/spec/command.ts';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import { createFlights } from '../../../src/flights/index.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { Log } from '../../../src/kernel/log.ts';
import { isProblem } from '../../../src/kernel/problems.ts';
import { createOperatorWallets } from '../../../src/payments/operator-wallets.ts';
import { createPaywall } from '../../../src/payments/paywall.ts';
import { type Cluster, SOLANA_NETWORKS } from '../../../src/solana/cluster.ts';
import { openRpcCluster } from '../../../src/solana/rpc/index.ts';
import { createComputer, type Process } from '../world/computer.ts';
import { openDoor } from '../world/door.ts';
import type { Reached } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { airlineOf } from './airline.ts';
import { carriersOf } from './carriers.ts';
import { HOSTS } from './chain.ts';
import { type Stage, walletOf } from './stage.ts';

/** The cluster as a process reaches it. */
export const clusterOf = async (stage: Stage, process: Process, log?: Log): Promise<Cluster> => {
  if (stage.setting.chain === 'embedded') return stage.chain.embeddedOf(process);
  return openRpcCluster({
    urls: HOSTS,
    network: SOLANA_NETWORKS.devnet,
    clock: process.clock,
    fetch: stage.chain.fetchOf(process),
    ...(log && { log }),
  });
};

/** Logged at these levels, it is part of the story. */
const TOLD = new Set(['warn', 'error']);

const logOf =
  (world: World, process: Process): Log =>
  (level, event, fields = {}) => {
    if (!process.isAlive()) return;
    world.saw(`log: ${event}`);
    const about = Object.entries(fields).map(([name, value]) => `${name}=${String(value).slice(0, 40)}`);
    if (TOLD.has(level)) world.tell(process.name, `${event} ${about.join(' ')}`);
    // The last words of an error that nobody has foreseen.
    if (event === 'unexpected_error' || event === 'request_failed') world.saw(`unforeseen: ${fields.error_name}`);
  };

/** The flight service on a database and a cluster of its own connections, as `serve` composes it. */
async function openFlights(world: World, stage: Stage, process: Process) {
  const log = logOf(world, process);
  const cluster = await clusterOf(stage, process, log);
  const store = stage.storeOf(process);
  const [authority, facilitator, treasury] = ['authority', 'facilitator', 'treasury'].map(walletOf) as [
    ReturnType<typeof walletOf>,
    ReturnType<typeof walletOf>,
    ReturnType<typeof walletOf>,
  ];
  const { clock } = process;
  const common = { store, secrets: stage.secrets, cluster, clock, ids: randomIds(clock.now), log };
  const wallets = createOperatorWallets({
    cluster,
    clock,
    mint: cluster.usdcMint,
    authority: authority.address,
    facilitator: facilitator.address,
    treasury: treasury.address,
  });
  const told = (kind: 'page' | 'email') => (message: { dedupKey: string }) =>
    process.boundary(
      `${kind} out`,
      async () => {
        world.saw(`${kind}: ${message.dedupKey.split(':')[1]}`);
        stage.messages.push({ kind, about: message.dedupKey });
      },
      { mostMs: 50 },
    );
  return createFlights({
    ...common,
    provider: airlineOf(world, stage.airline, stage.pendingOrders, process),
    lowcost: carriersOf(world, stage.carriers, stage.tills, process),
    authority,
    facilitator: facilitator.address,
    wallets,
    treasury: treasury.address,
    treasurySigner: treasury,
    mint: cluster.usdcMint,
    escrowProgram: ESCROW_PROGRAM_ID,
    paywall: createPaywall({ ...common, feePayer: facilitator, lender: authority, wallets }),
    transports: async () => ({ page: told('page'), mail: told('email'), forget: async () => undefined }),
  });
}

/** Whether the world goes at its usual pace, comes to rest, or has ended. */
export interface Pace {
  phase: 'usual' | 'finish' | 'rest' | 'years' | 'over';
}

const QUIET_MS = { usual: 8_000, finish: 30_000, rest: 180_000, years: 60 * 3_600_000, over: 1 };

/** A computer that serves, and comes back after each death. */
export function createServer(world: World, stage: Stage, name: string, pace: Pace) {
  const computer = createComputer(world, name, stage.disk);
  let reached: Reached | null = null;
  let isWanted = true;

  async function serve(process: Process): Promise<void> {
    process.atEnd(() => {
      if (reached?.process === process) reached = null;
    });
    const flights = await openFlights(world, stage, process).catch((error: unknown) => {
      // As `serve` does: it says why, and ends.
      if (!isProblem(error, 'cluster_failed')) throw error;
      world.saw('a service cannot start');
      return null;
    });
    if (!flights) return;
    let nap = new AbortController();
    // Whoever posts something wakes the worker.
    const woken: Reached['serve'] = async (request, connection) => {
      const answer = await flights.app.fetch(request, connection);
      if (request.method === 'POST') nap.abort();
      return answer;
    };
    const napSignal = () => {
      nap = new AbortController();
      return nap.signal;
    };
    const door = stage.setting.door === 'http' ? await openDoor(woken) : null;
    if (door) process.atEnd(door.close);
    reached = { process, serve: door?.serve ?? woken };
    world.tell(name, 'serves');
    const context = {
      clock: {
        now: process.clock.now,
        // Nobody is in a hurry at the end: a quiet worker looks less often.
        sleep: (ms: number, signal?: AbortSignal) =>
          process.clock.sleep(ms === 1_000 ? Math.max(ms, QUIET_MS[pace.phase]) : ms, signal),
      },
      terminal: {
        note: (text: string) => {
          world.saw('the worker fails and goes on');
          world.tell(process.name, text.slice(0, 160));
        },
      },
    } as unknown as CommandContext;
    await work(context, flights.worker, napSignal, () => pace.phase === 'over' || !process.isAlive());
    await flights.outbox.drain();
  }

  void (async () => {
    while (isWanted && pace.phase !== 'over') {
      await computer.keepsRunning('serve', serve);
      await world.sleep(1_000);
    }
  })().catch((error: unknown) => world.failed(`${name} serves`, error));
  return {
    computer,
    /** Nobody starts it again. */
    stop(): void {
      isWanted = false;
      computer.running()?.end();
    },
    reached: () => (reached?.process.isAlive() ? reached : null),
  };
}

export type Server = ReturnType<typeof createServer>;
