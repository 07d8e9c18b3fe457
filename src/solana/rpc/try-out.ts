import type { Clock } from '../../kernel/clock.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import type { Simulation } from '../cluster.ts';
import { blockhashOf } from '../transaction.ts';
import { preflightData, simulationAnswer } from './answers.ts';
import { pauseMs, type RpcCaller, silent } from './caller.ts';
import { CONFIRMED, type Lifetimes } from './lifetime.ts';
import { RpcRefusal } from './member.ts';

/** A node that lags does not know a young blockhash for some seconds. */
const MOST_BEHIND = 6;
/** So many nodes, one after the other, do not know a blockhash that is not known here either: it has expired. */
const ENOUGH_DOUBT = 3;

interface TryOutPorts {
  readonly caller: RpcCaller;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
}

/**
 * Tries a transaction out on a node that has come as far as any answer before. One that does not know a blockhash that
 * still lives is behind: another is asked, or the same one later.
 * @throws Problem `cluster_failed`
 */
export async function tryOut(
  { caller, clock, lifetimes }: TryOutPorts,
  wire: Uint8Array,
  { verifySignatures }: { readonly verifySignatures: boolean },
): Promise<Simulation> {
  const how = { ...CONFIRMED, encoding: 'base64', sigVerify: verifySignatures };
  let doubts = 0;
  for (let attempt = 1; attempt <= MOST_BEHIND; attempt++) {
    const tried = await simulated(caller, [Buffer.from(wire).toString('base64'), how]);
    if (tried.err !== 'BlockhashNotFound') return tried;
    const life = await lifetimes.of(blockhashOf(wire));
    if (life === 'doubtful') doubts++;
    if (life === 'over' || doubts >= ENOUGH_DOUBT) return tried;
    await clock.sleep(pauseMs(null, attempt + 1));
  }
  throw silent('simulateTransaction', 'it does not know a blockhash that is valid');
}

async function simulated(caller: RpcCaller, params: readonly unknown[]): Promise<Simulation> {
  try {
    const { err, logs, unitsConsumed } = await caller.call('simulateTransaction', params, simulationAnswer);
    return { err: err ?? null, logs: logs ?? [], unitsConsumed: unitsConsumed ?? 0n };
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    // A transaction that cannot even be tried is a result of the simulation too.
    return { err: refusal(error).detail?.error, logs: [], unitsConsumed: 0n };
  }
}

/** A refusal of the cluster as a problem, with the runtime's error in `detail.error`. */
export function refusal(error: RpcRefusal): Problem {
  const data = preflightData.safeParse(error.data);
  if (data.success) return refusedWith(data.data.err, error.message, data.data.logs ?? []);
  return refusedWith(error.code === -32003 ? 'SignatureFailure' : 'SanitizeFailure', error.message);
}

export const refusedWith = (error: unknown, why: string, logs: readonly string[] = []): Problem =>
  problem('transaction_failed', {
    message: `The cluster refused the transaction: ${why}.`,
    detail: { error, logs },
  });
