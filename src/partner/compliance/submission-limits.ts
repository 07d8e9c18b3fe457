import { DAY_MS } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Tx } from '../tables.ts';
import { RUN_INPUTS, type RunType } from './compliance.ts';
import type { Policy } from './policy.ts';
import type { GivenData } from './submissions.ts';

/** Pieces of data of one customer within a day: many times what all requirements together take. */
const MOST_PER_DAY = 200;

/**
 * Keeps a customer from trying values until one passes, and from filling the disk.
 * @throws Problem `too_many_attempts`, with Retry-After
 */
export async function refuseExcess(
  tx: Tx,
  policy: Policy,
  customerId: string,
  given: readonly GivenData[],
  nowMs: number,
): Promise<void> {
  const sinceMs = nowMs - DAY_MS;
  const pieces = await tx
    .selectFrom('customer_data')
    .select('submitted_at_ms as at')
    .where('customer_id', '=', customerId)
    .where('submitted_at_ms', '>', sinceMs)
    .execute();
  if (pieces.length + given.length > MOST_PER_DAY) throw tooMany(pieces, nowMs, 'data was given');
  const rejected = await tx
    .selectFrom('attestation_runs')
    .select(['type', 'finished_at_ms as at'])
    .where('customer_id', '=', customerId)
    .where('state', '=', 'rejected')
    .where('finished_at_ms', '>', sinceMs)
    .execute();
  for (const [type, inputs] of Object.entries(RUN_INPUTS) as [RunType, (typeof RUN_INPUTS)[RunType]][]) {
    const ofType = rejected.filter((one) => one.type === type);
    if (ofType.length >= policy.rejection.mostPerDay && given.some((one) => one.type === inputs[0]))
      throw tooMany(ofType, nowMs, `${inputs[0]} was rejected`);
  }
}

const tooMany = (times: readonly { readonly at: number | null }[], nowMs: number, what: string) =>
  problem('too_many_attempts', {
    message: `${what.charAt(0).toUpperCase()}${what.slice(1)} too often within 24 hours.`,
    retryAfter: Math.max(1, (Math.min(...times.map(({ at }) => at ?? nowMs)) + DAY_MS - nowMs) / 1000),
  });
