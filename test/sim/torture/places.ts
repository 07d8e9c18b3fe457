import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { BIN, farelockIn, type Ran, type Runner, type Served, serveIn } from '../../e2e/farelock.ts';
import type { ForgettingDisk } from '../../e2e/forgetting-disk.ts';
import type { Killer } from './killer.ts';

/** Where a journey is played, and who dies in it. */
export type Victim = 'tool and services in one process' | 'service' | 'tool';
export type Who = 'traveller' | 'operator' | 'partner';

export interface Options {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** `killed`: the victim died meanwhile, whatever the tool said. */
export type Struck = Ran & { readonly killed: boolean; readonly count: number; readonly call: string };

export interface Place {
  readonly victim: Victim;
  /** The folder with the services' database and the ledger. */
  readonly serviceHome: string;
  /** The folder with the journal of the traveller. */
  readonly clientHome: string;
  /** The folder with what people have written by themselves; no power fails there. */
  readonly papers: string;
  /** How often the power has failed with a death. */
  powerFailures(): number;
  run(who: Who, args: readonly string[], options?: Options): Promise<Ran>;
  /** Runs a command while the victim dies before its `at`-th call; 0 counts. A service is started again at once. */
  strike(who: Who, args: readonly string[], at: number, options?: Options): Promise<Struck>;
  /** Starts a service in the place, kills it before its `at`-th call, or stops it once `isDone`. */
  strikeWorker(at: number, isDone: () => boolean): Promise<Omit<Struck, keyof Ran>>;
  /** Everything happens so much later from now on. */
  advance(ms: number): void;
  set(who: Who, env: Readonly<Record<string, string>>): void;
  close(): Promise<void>;
}

/** All clocks run so many times as fast: leases of the dead end soon. */
const RATE = { TEST_CLOCK_SPEED: '10', FARELOCK_ATTESTATION_MS: '999999999' };
const HANGS_AFTER_MS = 120_000;

async function started(
  runner: Runner,
  args: readonly string[],
  options: Options,
  onStart: (kill: () => void) => void = () => undefined,
): Promise<Ran & { signal: string | undefined }> {
  const running = execa(process.execPath, [BIN, ...args, '--json'], {
    env: { ...runner.env, ...options.env },
    input: options.input ?? '',
    reject: false,
    timeout: HANGS_AFTER_MS,
  });
  onStart(() => running.kill('SIGKILL'));
  const ran = await running;
  if (ran.timedOut) throw new Error(`farelock ${args.join(' ')} hangs: ${ran.stdout}${ran.stderr}`);
  const { stdout, stderr } = ran;
  return { exitCode: ran.exitCode ?? -1, signal: ran.signal, stdout, stderr, json: <T>() => JSON.parse(stdout) as T };
}

/** Homes on disks that forget: with every second death on one its power fails. */
function openDisks(killer: Killer) {
  const disks = new Map<Runner, ForgettingDisk>();
  let deaths = 0;
  let failures = 0;
  return {
    /** Before anything is written to the home. */
    add(runner: Runner): void {
      const disk = killer.diskOf(runner.home);
      if (!disk) return;
      disks.set(runner, disk);
      Object.assign(runner.env, disk.env);
    },
    /** What ran on the home has died. */
    died(runner: Runner): void {
      const disk = disks.get(runner);
      if (!disk || deaths++ % 2 !== 0) return;
      failures++;
      disk.fail();
    },
    failures: () => failures,
    close: () => {
      for (const disk of disks.values()) disk.close();
    },
  };
}

type Disks = ReturnType<typeof openDisks>;

const struckTool =
  (killer: Killer, disks: Disks, runnerOf: (who: Who) => Runner): Place['strike'] =>
  async (who, args, at, options = {}) => {
    const env = { ...options.env, ...killer.env };
    let kill = () => undefined as unknown;
    killer.arm(at, () => kill());
    const runner = runnerOf(who);
    const { signal, ...ran } = await started(runner, args, { ...options, env }, (end) => {
      kill = end;
    });
    const killed = signal === 'SIGKILL';
    if (killed) disks.died(runner);
    return { ...ran, ...killer.disarm(), killed };
  };

/** A service that is killed, or not, before it was told to stop. */
const struckWorker =
  (killer: Killer, disks: Disks, runner: Runner): Place['strikeWorker'] =>
  async (at, isDone) => {
    const dying: Runner = { ...runner, env: { ...runner.env, ...killer.env } };
    let kill = () => undefined as unknown;
    killer.arm(at, () => kill());
    let died = false;
    try {
      const served = await serveIn(dying);
      kill = () => served.kill();
      void served.ended.then(() => {
        died = true;
      });
      for (let looks = 0; looks < 100 && !died && !isDone(); looks++) await pause(100);
      await served.stop();
      const killed = (await served.ended) === 'SIGKILL';
      if (killed) disks.died(runner);
      return { ...killer.disarm(), killed };
    } catch (error) {
      const { count, call } = killer.disarm();
      if (count < at || at === 0) throw error;
      disks.died(runner);
      return { count, call, killed: true };
    }
  };

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function later(runners: readonly Runner[]) {
  return (ms: number) => {
    for (const { env } of runners) {
      env.TEST_CLOCK_STARTS_MS = String(Number(env.TEST_CLOCK_STARTS_MS) + ms);
    }
  };
}

/** Everything in one process for each command. */
export async function openEmbedded(killer: Killer): Promise<Place> {
  const runner = farelockIn(RATE);
  const disks = openDisks(killer);
  disks.add(runner);
  const papers = mkdtempSync(join(tmpdir(), 'farelock-papers-'));
  await started(runner, ['wallet', 'airdrop', '--usdc', '900000'], {});
  return {
    victim: 'tool and services in one process',
    serviceHome: runner.home,
    clientHome: runner.home,
    papers,
    powerFailures: disks.failures,
    run: (_who, args, options = {}) => started(runner, args, options),
    strike: struckTool(killer, disks, () => runner),
    strikeWorker: struckWorker(killer, disks, runner),
    advance: later([runner]),
    set: (_who, env) => Object.assign(runner.env, env),
    async close() {
      runner.close();
      disks.close();
      rmSync(papers, { recursive: true, force: true });
    },
  };
}

/** A service, and tools that reach it over HTTP. */
export async function openRemote(killer: Killer, victim: 'service' | 'tool'): Promise<Place> {
  const server = farelockIn(RATE);
  const disks = openDisks(killer);
  const papers = mkdtempSync(join(tmpdir(), 'farelock-papers-'));
  if (victim === 'service') {
    Object.assign(server.env, killer.env);
    disks.add(server);
  }
  let served: Served = await serveIn(server);
  const { port } = new URL(served.flightsUrl);
  const urls = {
    ...RATE,
    FARELOCK_FLIGHTS_URL: served.flightsUrl,
    FARELOCK_RPC_URL: served.rpcUrl,
    FARELOCK_PARTNER_URL: served.flightsUrl,
    FARELOCK_OPERATOR_KEY: readFileSync(served.operatorKeyFile, 'utf8').trim(),
  };
  const client = farelockIn(urls);
  const desk = farelockIn(urls);
  if (victim === 'tool') for (const runner of [client, desk]) disks.add(runner);
  const runnerOf = (who: Who) => (who === 'traveller' ? client : desk);
  client.env.FARELOCK_KEYPAIR = join(client.home, 'me.json');
  await started(client, ['wallet', 'new'], {});
  await started(client, ['wallet', 'airdrop', '--sol', '1', '--usdc', '900000'], {});

  const strikeService: Place['strike'] = async (who, args, at, options = {}) => {
    const { ended } = served;
    let hasEnded = false;
    let died = false;
    const restarted = ended.then(async () => {
      if (hasEnded) return;
      died = true;
      disks.died(server);
      served = await serveIn(server, ['--port', port]);
    });
    killer.arm(at, () => served.kill());
    const ran = await started(runnerOf(who), args, options);
    const told = killer.disarm();
    // It may have died between the answer and now.
    if (at > 0 && told.call !== '') await restarted;
    hasEnded = true;
    return { ...ran, ...told, killed: died };
  };
  return {
    victim,
    serviceHome: server.home,
    clientHome: client.home,
    papers,
    powerFailures: disks.failures,
    run: (who, args, options = {}) => started(runnerOf(who), args, options),
    strike: victim === 'service' ? strikeService : struckTool(killer, disks, runnerOf),
    strikeWorker: struckWorker(killer, disks, server),
    advance: later([server, client, desk]),
    set: (who, env) => Object.assign(runnerOf(who).env, env),
    async close() {
      await served.stop();
      for (const runner of [server, client, desk]) runner.close();
      disks.close();
      rmSync(papers, { recursive: true, force: true });
    },
  };
}
