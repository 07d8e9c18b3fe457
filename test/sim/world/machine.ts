import crypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';

/** What a world puts in the place of the machine's time and chance. */
export interface MachineOf {
  /** Milliseconds since the epoch, with fractions. */
  now(): number;
  /** Calls back after so long; the result takes it back. */
  after(ms: number, call: () => void): () => void;
  /** The n-th block of 64 bytes of chance. */
  random(block: number): Buffer;
  /** Waits until an open file is on its disk; absent: no power fails, and everything is there at once. */
  readonly sync?: ((file: number) => Promise<void>) | undefined;
}

const real = { setImmediate, setTimeout, clearTimeout, Date, performance };
/** Slower than anything real that a world waits for. */
const LONGEST_MS = 120_000;
let pending = 0;
let heard: (() => void) | null = null;

function ended(): void {
  pending--;
  if (pending > 0) return;
  heard?.();
  heard = null;
}

/** The next turn of the event loop, and further ones while something real is still under way. */
export async function quiet(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => real.setImmediate(resolve));
    if (pending === 0) return;
    await new Promise<void>((resolve, reject) => {
      const late = real.setTimeout(() => reject(new Error('something real never came back')), LONGEST_MS);
      heard = () => {
        real.clearTimeout(late);
        resolve();
      };
    });
  }
}

/** Real work that the world has to wait for: a socket to a database. What several bring comes in the order of the asking. */
export function outside<T>(work: () => Promise<T>): Promise<T> {
  pending++;
  const done = work().then(
    (value) => () => value,
    (error: unknown) => (): T => {
      throw error;
    },
  );
  // Each in a turn of its own: what the one wakes has come to its end before the next is heard.
  const inTurn = last
    .then(() => done)
    .then((take) => new Promise<() => T>((resolve) => real.setImmediate(() => resolve(take))));
  last = inTurn;
  return inTurn.then((take) => {
    ended();
    return take();
  });
}
let last: Promise<unknown> = Promise.resolve();

/**
 * Puts a world's time and chance in the place of the machine's, for the whole process: timers, clocks, random bytes. What
 * WebCrypto does on threads of its own is done at once. The result gives the machine back.
 */
export function takeMachine(world: MachineOf): () => void {
  const undo: (() => void)[] = [];
  const replace = <T extends object, K extends keyof T>(on: T, name: K, value: unknown) => {
    const before = Object.getOwnPropertyDescriptor(on, name);
    Object.defineProperty(on, name, { value, configurable: true, writable: true, enumerable: true });
    undo.push(() => (before ? Object.defineProperty(on, name, before) : Reflect.deleteProperty(on, name)));
  };
  replaceTimers(world, replace);
  replaceChance(world, replace);
  replace(real.Date, 'now', () => Math.floor(world.now()));
  replace(real.performance, 'now', world.now);
  const { sync } = world;
  if (sync) {
    replace(fs, 'fdatasync', (file: number, done: (error: Error | null) => void) => {
      sync(file).then(() => done(null), done);
    });
  }
  replaceWebCrypto(replace);
  syncBuiltinESMExports();
  return () => {
    for (const step of undo.reverse()) step();
    syncBuiltinESMExports();
  };
}

/** Digests are made at once; the rest of WebCrypto works on threads of its own, and is waited for. */
function replaceWebCrypto(replace: Replace): void {
  const subtle = crypto.webcrypto.subtle as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  for (const name of ['importKey', 'exportKey', 'sign', 'verify', 'generateKey']) {
    const real = subtle[name]?.bind(subtle);
    if (real) replace(subtle, name, (...given: unknown[]) => outside(() => real(...given)));
  }
  replace(subtle, 'digest', async (how: string | { name: string }, data: Uint8Array) => {
    const name = typeof how === 'string' ? how : how.name;
    const digest = crypto.createHash(name.replace('-', '').toLowerCase()).update(data).digest();
    return digest.buffer.slice(digest.byteOffset, digest.byteOffset + digest.length);
  });
}

type Replace = <T extends object, K extends keyof T>(on: T, name: K, value: unknown) => void;

interface Timer {
  cancel(): void;
}

function replaceTimers(world: MachineOf, replace: Replace): void {
  const timer = (start: (again: () => void) => () => void): Timer & NodeJS.Timeout => {
    const made = {
      cancel: () => undefined as unknown,
      ref: () => made,
      unref: () => made,
      hasRef: () => true,
      refresh: () => made,
      close: () => made,
    };
    const begin = () => {
      made.cancel = start(begin);
    };
    begin();
    return made as unknown as Timer & NodeJS.Timeout;
  };
  const clear = (given: unknown) => (given as Timer | undefined)?.cancel?.();
  replace(globalThis, 'setTimeout', (call: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    timer(() => world.after(Math.max(1, ms), () => call(...given))),
  );
  replace(globalThis, 'setInterval', (call: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
    timer((again) =>
      world.after(Math.max(1, ms), () => {
        again();
        call(...given);
      }),
    ),
  );
  replace(globalThis, 'clearTimeout', clear);
  replace(globalThis, 'clearInterval', clear);
  replace(globalThis, 'setImmediate', (call: (...given: unknown[]) => void, ...given: unknown[]) => {
    pending++;
    return real.setImmediate(() => {
      try {
        call(...given);
      } finally {
        ended();
      }
    });
  });
  replace(
    timersPromises,
    'setTimeout',
    (ms = 1, value?: unknown) => new Promise((resolve) => world.after(Math.max(1, ms), () => resolve(value))),
  );
  replace(AbortSignal, 'timeout', (ms: number) => {
    const controller = new AbortController();
    world.after(ms, () => controller.abort(new DOMException('timed out', 'TimeoutError')));
    return controller.signal;
  });
}

function replaceChance(world: MachineOf, replace: Replace): void {
  const source = (first: number) => {
    let block = first;
    let left = Buffer.alloc(0);
    return (count: number): Buffer => {
      while (left.length < count) left = Buffer.concat([left, world.random(block++)]);
      const taken = Buffer.from(left.subarray(0, count));
      left = left.subarray(count);
      return taken;
    };
  };
  const bytes = source(0);
  // Libraries fill pools with it that outlive a world: nothing that is seen may hang on when they do.
  const pools = source(1_000_000);
  const unit = () => bytes(6).readUIntBE(0, 6) / 2 ** 48;
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(pools(view.byteLength));
    return view;
  };
  replace(crypto, 'randomBytes', bytes);
  replace(crypto, 'randomFillSync', fill);
  replace(crypto, 'randomInt', (least: number, most?: number) =>
    most === undefined ? Math.floor(unit() * least) : least + Math.floor(unit() * (most - least)),
  );
  replace(crypto, 'randomUUID', () =>
    bytes(16)
      .toString('hex')
      .replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'),
  );
  replace(Math, 'random', unit);
  replace(crypto.webcrypto as object as Record<string, unknown>, 'getRandomValues', fill);
}
