import { join } from 'node:path';
import { sql } from 'kysely';
import { work } from '../../../src/cli/commands/serve/run.ts';
import type { CommandContext } from '../../../src/cli/spec/command.ts';
import { type AuditTables, writeAudit } from '../../../src/flights/base/operators.ts';
import { createOperatorKeys } from '../../../src/flights/desk/keys.ts';
import { randomIds } from '../../../src/kernel/ids.ts';
import type { Log } from '../../../src/kernel/log.ts';
import type { PartnerDemo } from '../../../src/partner/base/ports.ts';
import { createPartner } from '../../../src/partner/index.ts';
import { sandboxAttest } from '../../../src/sandbox/attesters.ts';
import type { ServiceTables } from '../../../src/service/home.ts';
import { createComputer, type Process } from '../world/computer.ts';
import { openWatchedFile } from '../world/databases.ts';
import type { Reached } from '../world/network.ts';
import type { World } from '../world/world.ts';
import { platformOf } from './platform.ts';
import type { Stage } from './stage.ts';

/** Logged at these levels, it is part of the story. */
const TOLD = new Set(['warn', 'error']);

const logOf =
  (world: World, process: Process): Log =>
  (level, event, fields = {}) => {
    if (!process.isAlive()) return;
    world.saw(`log: ${event}`);
    const about = Object.entries(fields).map(([name, value]) => `${name}=${String(value).slice(0, 40)}`);
    if (TOLD.has(level)) world.tell(process.name, `${event} ${about.join(' ')}`);
  };

const ATTESTER_FAULTS = { fails: 0.05, slow: 0.05 };

/** The demo's side of the service: attesters that fail and are slow, and no script of its own. */
function demoOf(world: World, process: Process): PartnerDemo {
  const { chance } = world;
  return {
    seed: async () => undefined,
    attest: (type, data) =>
      process.boundary('attester', async () => {
        const place = chance.numbered(`${process.name} attester`);
        const fault = chance.happens('attester', place, ATTESTER_FAULTS);
        if (fault === 'fails') throw new Error('the attester is away');
        if (fault === 'slow') await world.sleep(chance.part(place) * 50_000);
        return sandboxAttest(type, data);
      }),
    answer: async () => {
      throw new Error('nobody is embedded here');
    },
    updates: { due: () => sql`null`, runDue: async () => 0 },
  };
}

/** The partner service on a database connection of its own, as the composition root puts it together. */
function openPartner(world: World, stage: Stage, process: Process) {
  const { clock } = process;
  const store = openWatchedFile<ServiceTables>(world, process, join(stage.folder, 'service.db'));
  const given = { store, secrets: stage.secrets, clock, ids: randomIds(clock.now), log: logOf(world, process) };
  const operators = createOperatorKeys(given);
  return createPartner({
    ...given,
    environment: 'demo',
    demo: demoOf(world, process),
    serviceName: 'farelock',
    home: stage.folder,
    desk: {
      authenticate: (header) => operators.authenticate(header),
      audit: (tx, act) => writeAudit(tx.withTables<AuditTables>(), given, act),
    },
    outbound: { embedded: platformOf(world, stage, process) },
  });
}

const QUIET_MS = { usual: 8_000, finish: 15_000, rest: 120_000, over: 1 };

/** A computer that serves, and comes back after each death. */
export function createServer(world: World, stage: Stage, name: string) {
  const computer = createComputer(world, name);
  const { pace } = stage;
  let reached: Reached | null = null;

  async function serve(process: Process): Promise<void> {
    process.atEnd(() => {
      if (reached?.process === process) reached = null;
    });
    const partner = openPartner(world, stage, process);
    let nap = new AbortController();
    // Whoever posts something wakes the worker.
    const serveWoken: Reached['serve'] = async (request, connection) => {
      const answer = await partner.fetch(request, connection);
      nap.abort();
      return answer;
    };
    reached = { process, serve: serveWoken };
    world.tell(name, 'serves');
    const context = {
      clock: {
        now: process.clock.now,
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
    const napSignal = () => {
      nap = new AbortController();
      return nap.signal;
    };
    await work(context, partner.worker, napSignal, () => pace.phase === 'over' || !process.isAlive());
  }

  void (async () => {
    while (pace.phase !== 'over') {
      await computer.keepsRunning('serve', serve);
      await world.sleep(1_000);
    }
  })().catch((error: unknown) => world.failed(`${name} serves`, error));
  return { computer, reached: () => (reached?.process.isAlive() ? reached : null) };
}

export type Server = ReturnType<typeof createServer>;
