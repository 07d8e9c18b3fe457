import type { Clock } from '../../../kernel/clock.ts';
import { missingNative } from '../../../kernel/native.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { lineOf } from '../../../kernel/shell-word.ts';
import type { Environment, GlobalOptions, Profile } from '../../settings/index.ts';

/** The outcome of a check. `warning`: it works, and something should be known. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** The fix; null where there is nothing to do. */
  readonly fix: string | null;
  /** Commands to copy. */
  readonly next: readonly string[];
}

/** A finding with what was looked at: the lines of `farelock doctor`. */
export interface Examined extends Finding {
  readonly id: string;
}

/** One thing to look at. It reads; it never makes, repairs or brings up to date. */
export interface Check {
  readonly id: string;
  /** It holds the thread while it reads: it waits for the others, and its own time is not limited. */
  readonly holdsThread?: true;
  run(signal: AbortSignal): Promise<Finding>;
}

/** Everything that the checks may look at. */
export interface Patient {
  readonly home: string;
  readonly environment: Environment;
  readonly globals: GlobalOptions;
  readonly clock: Clock;
  /** How the settings came together. Rejects with a problem where they do not. */
  readonly profile: Profile;
  /** Database files are read to the last page, however long it takes. */
  readonly full: boolean;
}

/** How long one check may take, unless --timeout is shorter. */
const CHECK_MS = 5000;

export const ok = (message: string): Finding => ({ status: 'ok', message, fix: null, next: [] });

export const warning = (message: string, fix: string | null = null, ...next: string[]): Finding => ({
  status: 'warning',
  message,
  fix,
  next,
});

export const failed = (message: string, fix: string | null, ...next: string[]): Finding => ({
  status: 'failed',
  message,
  fix,
  next,
});

const SKEW_KNOWN_SECONDS = 30;
const SKEW_BROKEN_SECONDS = 300;

/** @param seconds how far this clock is ahead of that of `who`, negative where it is behind */
export function skewOf(
  who: string,
  seconds: number,
  fix = 'Turn on network time; deadlines and quotes depend on it.',
): Finding {
  const off = Math.abs(seconds);
  if (off <= SKEW_KNOWN_SECONDS) return ok(`In step with ${who}`);
  const said = `This clock is ${off} seconds ${seconds > 0 ? 'ahead of' : 'behind'} ${who}`;
  const next = process.platform === 'linux' ? ['sudo timedatectl set-ntp true'] : [];
  return off > SKEW_BROKEN_SECONDS ? failed(said, fix, ...next) : warning(said, fix, ...next);
}

/** Work that waits for a person, by id. */
export const stuck = (ids: readonly string[]): Finding =>
  ids[0] === undefined
    ? ok('Nothing needs a decision')
    : warning(
        `${ids.length} ${ids.length === 1 ? 'thing waits' : 'things wait'} for a person`,
        'Decide about them.',
        `farelock stuck show ${ids[0]}`,
      );

/** A problem as a finding: it has its own words for what to do. */
export function findingOf(error: unknown): Finding {
  const told = isProblem(error) ? error : missingNative(error);
  if (told !== null) return failed(told.message, told.fix, ...told.next.map(lineOf));
  const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return failed(said, null);
}

/**
 * Runs the checks, those that wait beside each other; what takes too long, or throws, is a finding too. The order of the
 * answers is that of the checks.
 */
export async function examine(checks: readonly Check[], signal: AbortSignal): Promise<Examined[]> {
  const found = new Map<Check, Finding>();
  const waiting = checks.filter((check) => !check.holdsThread);
  await Promise.all(waiting.map(async (check) => found.set(check, await examineOne(check, signal))));
  for (const check of checks.filter(({ holdsThread }) => holdsThread)) {
    // Ctrl-C is heard between two of them.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) break;
    found.set(check, await check.run(signal).catch(findingOf));
  }
  return checks.flatMap((check) => {
    const finding = found.get(check);
    return finding ? [{ id: check.id, ...finding }] : [];
  });
}

async function examineOne({ run }: Check, signal: AbortSignal): Promise<Finding> {
  const limit = AbortSignal.timeout(CHECK_MS);
  const both = AbortSignal.any([signal, limit]);
  const late = new Promise<Finding>((resolve) => {
    both.addEventListener(
      'abort',
      () => resolve(failed(`It did not answer within ${CHECK_MS / 1000} seconds.`, 'Run farelock doctor again.')),
      { once: true },
    );
  });
  return Promise.race([run(both).catch(findingOf), late]);
}
