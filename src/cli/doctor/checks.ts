import type { Clock } from '../../kernel/clock.ts';
import { missingNative } from '../../kernel/native.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Environment, GlobalOptions } from '../context.ts';
import type { Profile } from '../profile.ts';

/** What a check has found. `warning`: it works, and something should be known. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed';
  readonly message: string;
  /** What to do; null where nothing is to be done. */
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
  run(signal: AbortSignal): Promise<Finding>;
}

/** What the checks may look at. */
export interface Patient {
  readonly home: string;
  readonly environment: Environment;
  readonly globals: GlobalOptions;
  readonly clock: Clock;
  /** How the settings came together. Rejects with a problem where they do not. */
  readonly profile: Profile;
}

/** How long one check may take, unless --timeout is shorter. */
export const CHECK_MS = 5000;

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

/** A problem as a finding: it has its own words for what to do. */
export function findingOf(error: unknown): Finding {
  const told = isProblem(error) ? error : missingNative(error);
  if (told !== null) return failed(told.message, told.fix, ...told.next);
  const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return failed(said, null);
}

/** Runs the checks, those that wait beside each other; what takes too long, or throws, is a finding too. */
export async function examine(checks: readonly Check[], signal: AbortSignal): Promise<Examined[]> {
  return Promise.all(checks.map(async (check) => ({ id: check.id, ...(await examineOne(check, signal)) })));
}

async function examineOne({ run }: Check, signal: AbortSignal): Promise<Finding> {
  const limit = AbortSignal.timeout(CHECK_MS);
  const both = AbortSignal.any([signal, limit]);
  const late = new Promise<Finding>((resolve) => {
    both.addEventListener(
      'abort',
      () =>
        resolve(failed(`It did not answer within ${CHECK_MS / 1000} seconds.`, 'Run farelock doctor again.')),
      { once: true },
    );
  });
  return Promise.race([run(both).catch(findingOf), late]);
}
