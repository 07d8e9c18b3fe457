import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isProblem } from '../../../src/kernel/problems.ts';
import { storageTrouble } from '../../../src/kernel/storage.ts';
import type { Mutator } from './mutator.ts';

/** A door that strangers knock at. */
export interface Surface {
  /** Sends one bad input. `wrong` says what is wrong with its answer, null when nothing is. */
  bad(): Promise<{ readonly input: string; readonly answer: string; readonly wrong: string | null }>;
  /** What is not as it was before all of them. */
  atRest(): Promise<string[]>;
  close(): Promise<void>;
}

export type OpenSurface = (mutator: Mutator, seed: number) => Promise<Surface>;

/** No input may take longer, on a machine that does a lot beside it: 14 s were seen for a process on one under load. */
const HANGS_AFTER_MS = 60_000;
/** What may stay in the heap after all of them, beyond what stayed after the first tenth: caches have their limits. */
const MOST_GROWTH_BYTES = 48 * 1024 * 1024;

/** What a file or a line of arguments may end with: a problem of the catalogue. */
export const isTold = (error: unknown): boolean => isProblem(error) || storageTrouble(error) !== null;

export const wordsOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : String(error);

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

interface Flood {
  /** How often each answer came. */
  readonly answers: ReadonlyMap<string, number>;
  readonly slowestMs: number;
  readonly grownBytes: number;
  /** Of this process, whatever else the machine does. */
  readonly cpuSeconds: number;
}

/** Sends so many bad inputs. @throws with the number of the first that was answered wrongly */
export async function flood(surface: Surface, count: number): Promise<Flood> {
  const answers = new Map<string, number>();
  let slowestMs = 0;
  let heldBytes = 0;
  const cpu = process.cpuUsage();
  for (let number = 0; number < count; number++) {
    if (number === Math.floor(count / 10)) heldBytes = heapBytes();
    const begunMs = performance.now();
    const { input, answer, wrong } = await inTime(surface.bad());
    if (wrong !== null) throw new Error(`input ${number}: ${wrong}\n${input.slice(0, 3_000)}`);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    slowestMs = Math.max(slowestMs, performance.now() - begunMs);
    // Lets timers of the services run.
    if (number % 64 === 0) await new Promise((soon) => setImmediate(soon));
  }
  const wrong = await surface.atRest();
  if (wrong.length > 0) throw new Error(`after ${count} inputs: ${wrong.join('; ')}`);
  const grownBytes = heapBytes() - heldBytes;
  if (grownBytes > MOST_GROWTH_BYTES) throw new Error(`the heap grew by ${grownBytes} bytes`);
  const { user, system } = process.cpuUsage(cpu);
  return { answers, slowestMs, grownBytes, cpuSeconds: (user + system) / 1_000_000 };
}

async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('an input is never answered')), HANGS_AFTER_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
