import type { Clock } from '../../../kernel/clock.ts';
import { missingNative } from '../../../kernel/native.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { lineOf } from '../../../kernel/shell-word.ts';
import { counted, spanText } from '../../../terminal/index.ts';
import type { Environment, GlobalOptions, Profile } from '../../settings/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import type * as result from './result.ts';

export type DoctorReport = DocumentOf<typeof result.doctor>;

/** A finding with its check: the lines of `farelock doctor`. */
export type Examined = DoctorReport['checks'][number];

/** The outcome of a check. `warning` means that it works, with something to know. */
export type Finding = Omit<Examined, 'id'>;

/** A check only reads: it never makes, repairs or updates anything. */
export interface Check {
  readonly id: string;
  /** Blocks the thread while it reads, so it runs after the others and without a time limit. */
  readonly holdsThread?: true;
  run(signal: AbortSignal): Promise<Finding> | Finding;
}

export interface Patient {
  readonly home: string;
  readonly environment: Environment;
  readonly globals: GlobalOptions;
  readonly clock: Clock;
  readonly profile: Profile;
  /** Database files are read to the last page, however long it takes. */
  readonly full: boolean;
}

/** Limit of one check, unless --timeout is shorter. */
const CHECK_MS = 5000;

const finding =
  (status: Finding['status']) =>
  (message: string, fix: string | null = null, ...next: string[]): Finding => ({ status, message, fix, next });

export const ok: (message: string) => Finding = finding('ok');
export const warning = finding('warning');
export const failed = finding('failed');

const SKEW_KNOWN_SECONDS = 30;
const SKEW_BROKEN_SECONDS = 300;

/** @param seconds how far this clock is ahead of the clock of `who`; negative if it is behind */
export function skewOf(
  who: string,
  seconds: number,
  fix = 'Turn on network time; deadlines and quotes depend on it.',
): Finding {
  const off = Math.abs(seconds);
  if (off <= SKEW_KNOWN_SECONDS) return ok(`In step with ${who}`);
  const said = `This computer's clock is ${spanText(off)} ${seconds > 0 ? 'fast' : 'slow'} (by ${who})`;
  const next = process.platform === 'linux' ? ['sudo timedatectl set-ntp true'] : [];
  return off > SKEW_BROKEN_SECONDS ? failed(said, fix, ...next) : warning(said, fix, ...next);
}

/** Work that waits for a person, by id. */
export const stuck = (ids: readonly string[]): Finding => {
  if (ids[0] === undefined) return ok('Nothing needs a decision');
  if (ids.includes('reconcile')) {
    const fix = 'Nothing is booked, refunded or paid out until it is compared with cluster and airline.';
    return failed('The database was put back, and is not reconciled', fix, 'farelock db reconcile');
  }
  const waiting = `${counted(ids.length, 'thing waits', 'things wait')} for a person`;
  return warning(waiting, 'Decide about them.', `farelock stuck show ${ids[0]}`);
};

const MOST_NAMED = 3;

/** The first few of several, and how many more there are. */
export const named = (names: readonly string[]): string =>
  names.length <= MOST_NAMED
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`;

export function findingOf(error: unknown): Finding {
  const known = isProblem(error) ? error : missingNative(error);
  if (known !== null) return failed(known.message, known.fix, ...known.next.map(lineOf));
  const [said = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return failed(said, null);
}

/**
 * Runs the checks, all at once unless they block the thread. A check that throws or takes too long gives a finding too.
 * The findings are in the order of the checks.
 */
export async function examine(checks: readonly Check[], signal: AbortSignal): Promise<Examined[]> {
  const found = new Map<Check, Finding>();
  const waiting = checks.filter((check) => !check.holdsThread);
  await Promise.all(waiting.map(async (check) => found.set(check, await examineOne(check, signal))));
  for (const check of checks.filter(({ holdsThread }) => holdsThread)) {
    // Lets Ctrl-C in between two checks.
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) break;
    found.set(check, await carryOut(check, signal));
  }
  return checks.flatMap((check) => {
    const finding = found.get(check);
    return finding ? [{ id: check.id, ...finding }] : [];
  });
}

async function examineOne(check: Check, signal: AbortSignal): Promise<Finding> {
  const both = AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS)]);
  const late = failed(`It did not answer within ${CHECK_MS / 1000} seconds.`, 'Run farelock doctor again.');
  const over = new Promise<Finding>((resolve) => {
    both.addEventListener('abort', () => resolve(late), { once: true });
  });
  return Promise.race([carryOut(check, both), over]);
}

async function carryOut(check: Check, signal: AbortSignal): Promise<Finding> {
  try {
    return await check.run(signal);
  } catch (error) {
    return findingOf(error);
  }
}
