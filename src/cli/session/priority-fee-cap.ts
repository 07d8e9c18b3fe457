import { problem } from '../../kernel/problems.ts';
import type { Environment } from '../spec/globals.ts';

/**
 * The most that a transaction of the operator bids for its place in a block, in lamports; undefined when it isn't set.
 * @throws Problem `usage`
 */
export function priorityFeeCap(environment: Environment): bigint | undefined {
  const text = environment.FARELOCK_PRIORITY_FEE_CAP;
  if (!text) return undefined;
  if (/^\d{1,12}$/.test(text)) return BigInt(text);
  throw problem('usage', {
    message: `FARELOCK_PRIORITY_FEE_CAP is not a number of lamports: ${text}.`,
    fix: 'Set it to 100000, or unset it.',
  });
}
