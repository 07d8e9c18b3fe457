import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { faultLibrary } from '../../e2e/fault.ts';
import { type ForgettingDisk, forgettingDisk } from '../../e2e/forgetting-disk.ts';

/**
 * Kills a process right before its n-th call to the system that leaves something behind (test/e2e/fault.c), and counts
 * such calls. Where there is no C compiler it kills after n thousandths of a second.
 */
export interface Killer {
  /** For the process that is to die, and for nobody else. */
  readonly env: Readonly<Record<string, string>>;
  /** 0 counts and kills nobody. `kill` is called where the system's calls cannot be counted. */
  arm(at: number, kill: () => void): void;
  /** @returns how many calls there were since it was armed, and the one that somebody died at, or '' */
  disarm(): { count: number; call: string };
  /** The disk of a home, which forgets what was not synced; null where the system's calls cannot be seen. */
  diskOf(home: string): ForgettingDisk | null;
}

const BYTES = 32;
let killers = 0;

export function openKiller(folder: string): Killer & { close(): void } {
  const library = faultLibrary(folder);
  return library === null ? byTime() : byCall(folder, library);
}

function byCall(folder: string, library: string): Killer & { close(): void } {
  const path = join(folder, `kill-${killers++}`);
  const file = openSync(path, 'w+');
  const write = (at: number) => {
    const bytes = Buffer.alloc(BYTES);
    bytes.writeBigInt64LE(BigInt(at));
    // The number last: whoever sees it finds the count at 0.
    writeSync(file, bytes, 8, BYTES - 8, 8);
    writeSync(file, bytes, 0, 8, 0);
  };
  write(-1);
  return {
    env: { LD_PRELOAD: library, FAULT_KILL: path },
    arm: (at) => write(at),
    disarm() {
      const bytes = Buffer.alloc(BYTES);
      readSync(file, bytes, 0, BYTES, 0);
      write(-1);
      return { count: Number(bytes.readBigInt64LE(8)), call: bytes.toString('latin1', 16).split('\0')[0] ?? '' };
    },
    diskOf: (home) => forgettingDisk(library, home),
    close: () => closeSync(file),
  };
}

function byTime(): Killer & { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let begun = 0;
  let call = '';
  return {
    env: {},
    arm(at, kill) {
      begun = performance.now();
      call = '';
      const strike = () => {
        call = 'at a moment';
        kill();
      };
      timer = at > 0 ? setTimeout(strike, at) : undefined;
    },
    disarm() {
      clearTimeout(timer);
      return { count: Math.ceil(performance.now() - begun), call };
    },
    diskOf: () => null,
    close: () => clearTimeout(timer),
  };
}

/** The points at which each step is killed: all of them in turn, in an order that spreads a few of them evenly. */
export function openPoints(seed: number) {
  const steps = new Map<string, { calls: number; taken: number; killedAt: Set<number> }>();
  const calls = new Map<string, number>();
  const of = (step: string) => {
    const known = steps.get(step) ?? { calls: 0, taken: 0, killedAt: new Set() };
    steps.set(step, known);
    return known;
  };
  return {
    /** 0 for a step that is counted first. `calls` of one that makes as many as there is left to do. */
    next(step: string, calls = of(step).calls): number {
      if (calls === 0) return 0;
      return (((seed % 997) * 7 + of(step).taken++ * strideOf(calls)) % calls) + 1;
    },
    ended(step: string, { count, call }: { count: number; call: string }, at: number, isKilled: boolean): void {
      const known = of(step);
      if (!isKilled) {
        // The first one in a home makes its files too.
        known.calls = count;
        return;
      }
      known.killedAt.add(at);
      calls.set(call, (calls.get(call) ?? 0) + 1);
    },
    kills: () => [...calls.values()].reduce((sum, one) => sum + one, 0),
    report: () =>
      [
        ...[...steps].map(
          ([step, { calls, killedAt }]) =>
            `${step}: killed at ${killedAt.size} calls, of ${calls} in its last whole run`,
        ),
        [...calls].map(([call, times]) => `${call} ${times}`).join(', '),
      ].join('\n'),
  };
}

/** About 0.618 of the calls, and coprime to them: every point is met once before any is met again. */
function strideOf(calls: number): number {
  const common = (a: number, b: number): number => (b === 0 ? a : common(b, a % b));
  let stride = Math.max(1, Math.round(calls * 0.618));
  while (common(stride, calls) !== 1) stride++;
  return stride;
}
