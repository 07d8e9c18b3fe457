import { randomInt } from 'node:crypto';
import { type QueryExecutorProvider, sql } from 'kysely';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { type Problem, problem } from '../kernel/problems.ts';
import { publicTrouble, STORAGE_RETRY_S, storageTrouble } from '../kernel/storage.ts';
import { isDatabaseAway } from './postgres/index.ts';

/** Returns failing storage or an absent database as a public problem, else null; the request may be retried. */
export const storeTrouble = (error: unknown): Problem | null =>
  publicTrouble(error) ??
  (isDatabaseAway(error) ? problem('not_ready', { retryAfter: STORAGE_RETRY_S, cause: error }) : null);

export type StorageWatch = ReturnType<typeof watchStorage>;

const SAME_S = 60;
const GOOD_FOR_MS = 1_000;

/** Logs and briefly remembers one process's file failures. @param probes write a little to each file that matters */
export function watchStorage(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  probes: () => readonly (() => Promise<unknown>)[],
) {
  let last: { readonly problem: Problem; readonly atMs: number } | null = null;
  let logged = { what: '', atMs: 0 };
  let probing: Promise<string | null> | null = null;
  let goodAtMs = Number.NEGATIVE_INFINITY;

  const within = (atMs: number, ms: number) => Math.abs(clock.now() - atMs) < ms;
  const onTrouble = (trouble: Problem) => {
    const problem = storageTrouble(trouble) ?? trouble;
    last = { problem, atMs: clock.now() };
    goodAtMs = Number.NEGATIVE_INFINITY;
    const what = `${problem.code} ${problem.message}`;
    if (what === logged.what && within(logged.atMs, SAME_S * 1000)) return;
    logged = { what, atMs: clock.now() };
    log('error', 'storage_trouble', { error_code: problem.code, ...placeOf(problem), fix: problem.fix });
  };
  const probe = async (): Promise<string | null> => {
    try {
      await Promise.all(probes().map((write) => write()));
    } catch (error) {
      log('error', 'not_ready', storageFields(error));
      return storeTrouble(error)?.code ?? 'storage_failed';
    }
    if (last && within(last.atMs, STORAGE_RETRY_S * 1000)) return last.problem.code;
    goodAtMs = clock.now();
    return null;
  };

  return {
    onTrouble,
    /** The last trouble, with private names of files. */
    last: (): Problem | null => last?.problem ?? null,
    /** Checks by a write that storage works; calls within a second share an answer. @returns the problem's code */
    writeTrouble(): Promise<string | null> {
      if (within(goodAtMs, GOOD_FOR_MS)) return Promise.resolve(null);
      probing ??= probe().finally(() => {
        probing = null;
      });
      return probing;
    },
  };
}

/** Changes a row each time, as an unchanged one would not be written. */
export const writeProbe = (store: QueryExecutorProvider) => () => {
  const value = String(randomInt(1_000_000_000));
  return sql`insert into meta (key, value) values ('write_probe', ${value})
    on conflict (key) do update set value = ${value}`.execute(store);
};

/** Log fields: a storage problem's code and file, else the error's name. */
export function storageFields(error: unknown): Record<string, string> {
  const trouble = storageTrouble(error);
  if (trouble) return { error_code: trouble.code, ...placeOf(trouble) };
  return { error_name: error instanceof Error ? error.name : 'unknown' };
}

const placeOf = ({ detail }: Problem): Record<string, string> => ({
  ...(typeof detail?.file === 'string' ? { file: detail.file } : {}),
  ...(typeof detail?.reason === 'string' ? { reason: detail.reason } : {}),
});
