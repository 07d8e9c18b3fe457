import type { Address } from '@solana/kit';
import { idFrom } from '../../kernel/ids.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { type FlightsPorts, knownUntilMs, SLACK_MS, unlessSilent } from '../base/index.ts';
import { actsIn, markBehind, transactionsOf, withoutEffects } from '../reconcile/index.ts';

/** Enough transactions to include an act of ours among those that strangers send to our address. */
const NEWEST = 50;

/**
 * Detects a restored database: the chain shows acts of ours without rows. Each act is a row before it is sent, so a
 * look at the newest acts is enough. Marks the database, so that everything that moves money waits.
 */
export async function findRestored(ports: FlightsPorts): Promise<'behind' | 'whole'> {
  if (await ports.isBehind()) return 'behind';
  for (const authority of (await authoritiesOf(ports).look()).live) {
    if ((await actsForgotten(ports, authority)) === 'behind') return 'behind';
  }
  return 'whole';
}

async function actsForgotten(ports: FlightsPorts, authority: Address): Promise<'behind' | 'whole'> {
  const newest = await ports.cluster.history(authority, { limit: NEWEST });
  const [first] = newest.map(({ blockTime }) => blockTime ?? 0).sort((a, b) => a - b);
  const recent = await withoutEffects(ports, newest, idFrom('eff', (first ?? 0) * 1000 - SLACK_MS));
  const begun = await actsIn(ports, await transactionsOf(ports, recent));
  if (begun.length === 0) return 'whole';
  // Searches all effects for these few acts: if the clock was set back, their rows have earlier ids.
  const unknown = new Set((await withoutEffects(ports, recent)).map(({ signature }) => signature));
  const acts = begun.filter(({ signature }) => unknown.has(signature));
  if (acts.length === 0) return 'whole';
  const sinceMs = Math.min(...acts.map(({ atMs }) => atMs - SLACK_MS), await knownUntilMs(ports.store));
  await markBehind(ports, 'chain', sinceMs);
  return 'behind';
}

/** @returns `unknown` while the cluster is silent */
export const lookForRestored = (ports: FlightsPorts): Promise<'behind' | 'whole' | 'unknown'> =>
  unlessSilent(findRestored(ports), ({ code }) => {
    ports.log('warn', 'chain_unread', { error_code: code });
    return 'unknown' as const;
  });
