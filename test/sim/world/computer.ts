import type { Clock } from '../../../src/kernel/clock.ts';
import type { Disk } from './disk.ts';
import type { World } from './world.ts';

/** What a process waits for after its death. */
const never = new Promise<never>(() => undefined);

const CRASHES = { before: 0.0012, after: 0.0012 };
/** Rarer than a death of one process: all that runs on the disk dies. */
const OUTAGES = { before: 0.0004, after: 0.0004 };
const JUMPS = { forward: 0.0004, back: 0.0004 };
const FARTHEST_JUMP_MS = 15 * 60_000;
/** The power comes back. */
const LONGEST_OUTAGE_MS = 12_000;

/** A program that runs on a computer, until it ends or dies. */
export interface Process {
  readonly name: string;
  readonly clock: Clock;
  isAlive(): boolean;
  /**
   * Waits for something outside of the process. It may die before, so that nothing was asked, or after, so that it never
   * hears the answer. `restless` places are where it matters less: it takes a moment, and nobody dies.
   */
  boundary<T>(name: string, work: () => T | Promise<T>, how?: Passage): Promise<T>;
  /** Called when it dies or ends: connections are cut. */
  atEnd(call: () => void): void;
  /** Rejects for whoever waits for an answer of it when it dies. */
  orGone<T>(work: Promise<T>): Promise<T>;
  crash(): void;
  end(): void;
}

interface Passage {
  /** The longest that it takes, milliseconds. */
  readonly mostMs?: number;
  /** false: the process does not die here. */
  readonly mortal?: boolean;
}

export type Computer = ReturnType<typeof createComputer>;

/**
 * A computer: its clock may be wrong and may jump, and what it runs may die and is started again. With a disk its power
 * may fail, too.
 */
export function createComputer(world: World, name: string, disk: Disk | null = null) {
  const { chance } = world;
  let offsetMs = 0;
  let running: Process | null = null;
  let isAwake = true;

  function jump(place: string): void {
    const where = chance.happens('clock', place, JUMPS);
    if (where === null) return;
    const byMs = chance.part(`jump ${place}`) * FARTHEST_JUMP_MS;
    offsetMs += where === 'forward' ? byMs : -byMs;
    world.tell(name, `its clock jumps ${where} by ${Math.round(byMs / 1000)} s`);
  }

  function boot(what: string): Process {
    const process = createProcess(world, chance.numbered(`${name}/${what}`), {
      nowMs: () => world.now() + offsetMs,
      dies: (place, moment) => {
        if (!isAwake) return false;
        if (moment === 'before') jump(place);
        if (disk && chance.happens('power', `${place} ${moment}`, { [moment]: OUTAGES[moment] }) !== null) {
          disk.fail();
          return true;
        }
        return chance.happens('crash', `${place} ${moment}`, { [moment]: CRASHES[moment] }) !== null;
      },
    });
    disk?.attach(process);
    running = process;
    return process;
  }

  return {
    name,
    /** What runs on it now; null while it is down. */
    running: (): Process | null => (running?.isAlive() ? running : null),
    boot,
    /** Nothing dies here any more, and the clock is right. */
    settle(): void {
      isAwake = false;
      offsetMs = 0;
    },
    /** Runs a program, and starts it again after each death, until it comes to its end by itself. */
    async keepsRunning<T>(what: string, program: (process: Process) => Promise<T>): Promise<T> {
      for (;;) {
        const process = boot(what);
        const died = new Promise<'died'>((resolve) => process.atEnd(() => resolve('died')));
        const ended = program(process).then((value) => ({ value }));
        ended.catch(() => undefined);
        const how = await Promise.race([ended, died]);
        if (how !== 'died') {
          process.end();
          return how.value;
        }
        await world.sleep(chance.pauseMs(`${process.name} down`, LONGEST_OUTAGE_MS));
      }
    },
  };
}

function createProcess(
  world: World,
  name: string,
  ports: { nowMs(): number; dies(place: string, moment: 'before' | 'after'): boolean },
): Process {
  const { chance } = world;
  let isAlive = true;
  const endings: (() => void)[] = [];
  const end = () => {
    if (!isAlive) return;
    isAlive = false;
    for (const call of endings.splice(0)) call();
  };
  const self: Process = {
    name,
    isAlive: () => isAlive,
    clock: {
      now: () => Math.floor(ports.nowMs()),
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          const done = () => {
            cancel();
            signal?.removeEventListener('abort', done);
            if (isAlive) resolve();
          };
          const cancel = world.after(signal?.aborted ? 0 : ms, done);
          signal?.addEventListener('abort', done, { once: true });
        }),
    },
    async boundary(what, work, { mostMs = 0.6, mortal = true } = {}) {
      if (!isAlive) return never;
      const place = chance.numbered(`${name} ${what}`);
      world.traced(place);
      const dies = (moment: 'before' | 'after') => {
        if (!isAlive || !mortal || !ports.dies(place, moment)) return;
        world.tell(name, `dies ${moment} ${what}`);
        self.crash();
      };
      dies('before');
      await world.sleep(chance.pauseMs(place, mostMs));
      if (!isAlive) return never;
      try {
        return await work();
      } finally {
        dies('after');
        if (!isAlive) await never;
      }
    },
    atEnd: (call) => void (isAlive ? endings.push(call) : call()),
    orGone: (work) =>
      new Promise((resolve, reject) => {
        work.then(resolve, reject);
        self.atEnd(() => reject(new TypeError('fetch failed', { cause: new Error('socket hang up') })));
      }),
    crash() {
      world.saw('a process dies');
      end();
    },
    end,
  };
  return self;
}
