import type { Clock } from '../../kernel/clock.ts';
import { canonicalJson, sha256Hex } from '../../kernel/json.ts';
import type { SearchRequestInput } from '../../wire/flights/index.ts';
import { openNotebook } from '../session/notebook.ts';

/** The result of a search: paid for, and good for a while. */
export type Remembered<T> = T & { readonly atMs: number };

/** The searches of the last minutes: who runs the same search again does not pay for it again. */
export interface SearchMemory<T> {
  find(request: SearchRequestInput): Remembered<T> | null;
  /** @returns what is remembered, with the moment that it was found at */
  remember(request: SearchRequestInput, found: T): Remembered<T>;
}

interface MemoryGiven<T> {
  readonly path: string;
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
  /** Default: 10 minutes. An offer that has expired before is not had for longer. */
  readonly goodForMs?: number;
  /** What can still be had of it; null: nothing. */
  readonly alive: (found: T, nowMs: number) => T | null;
}

/** Kept in a file of the home, replaced whole; offers alone, and nothing of a person. */
export function openSearchMemory<T extends object>(given: MemoryGiven<T>): SearchMemory<T> {
  const { path, baseUrl, clock, warn, goodForMs = 600_000 } = given;
  const file = openNotebook<Record<string, Remembered<T>>>(path, warn);
  const keyOf = (request: SearchRequestInput) => sha256Hex(canonicalJson({ baseUrl, request })).slice(0, 32);
  const alive = (found: Remembered<T>): Remembered<T> | null => {
    const nowMs = clock.now();
    // A clock that was set back makes nothing younger.
    if (found.atMs > nowMs || nowMs - found.atMs > goodForMs) return null;
    const left = given.alive(found, nowMs);
    return left && { ...left, atMs: found.atMs };
  };
  const read = (): [string, Remembered<T>][] =>
    Object.entries(file.read() ?? {}).flatMap(([key, found]) => {
      const left = found ? alive(found) : null;
      return left ? [[key, left]] : [];
    });
  return {
    find(request) {
      const key = keyOf(request);
      return read().find(([one]) => one === key)?.[1] ?? null;
    },
    remember(request, found) {
      const entry = { ...found, atMs: clock.now() };
      file.write({ ...Object.fromEntries(read()), [keyOf(request)]: entry });
      return entry;
    },
  };
}
