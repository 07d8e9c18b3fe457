import type { Instruction } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { buildTransaction, type Cluster, computeBudget, type Signer } from '../../solana/index.ts';

export interface DeploymentPorts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Kept before the transaction that makes the buffer is sent: until this block height it may still land. */
  noteBufferUntil(lastValidBlockHeight: bigint): void;
  readonly signal?: AbortSignal | undefined;
  /** Told of each step, before it is done. */
  onStep?(step: DeploymentStep): void;
}

export type DeploymentStep =
  | { readonly kind: 'buffer' | 'deploy' | 'verify' | 'finalise' }
  | { readonly kind: 'write'; readonly done: number; readonly total: number };

export const POLL_MS = 1_000;
/** How far a node may lag behind what another one has confirmed. */
const LONGEST_LAG_MS = 30_000;

/** Reads until it is so: behind one address there may be a node that does not know yet what another has confirmed. */
export async function eventually<T>(
  { clock, signal }: Pick<DeploymentPorts, 'clock' | 'signal'>,
  read: () => Promise<T>,
  isSo: (value: T) => boolean,
): Promise<T> {
  const untilMs = clock.now() + LONGEST_LAG_MS;
  for (;;) {
    const value = await read();
    if (isSo(value) || clock.now() >= untilMs) return value;
    await clock.sleep(POLL_MS, signal);
    signal?.throwIfAborted();
  }
}

const TRIES = 3;

/**
 * Acts, unless it is done. Where the answer was lost or says that it cannot be done, it may have been done before. Acts
 * again where the blockhash was too old when the cluster first saw it.
 */
export async function unlessReached(isReached: () => Promise<boolean>, act: () => Promise<void>): Promise<void> {
  for (let attempt = 1; !(await isReached()); attempt++) {
    try {
      return await act();
    } catch (error) {
      if (isExpired(error) && attempt < TRIES) continue;
      if (!isProblem(error, 'cluster_failed', 'transaction_failed') || !(await isReached())) throw error;
    }
  }
}

/** True where the cluster refused a transaction for its age alone, so that it is not on its way. */
export const isExpired = (error: unknown): boolean =>
  isProblem(error, 'transaction_failed') && error.detail?.error === 'BlockhashNotFound';

/** Signs and sends, and waits until it is confirmed. */
export async function send(
  { cluster }: Pick<DeploymentPorts, 'cluster'>,
  sent: {
    readonly instructions: readonly Instruction[];
    readonly payer: Signer;
    readonly signers: readonly Signer[];
    readonly microLamports: bigint;
    readonly units: number;
    readonly blockhash: Awaited<ReturnType<Cluster['latestBlockhash']>>;
  },
): Promise<void> {
  const { wire } = buildTransaction({
    feePayer: sent.payer,
    signers: sent.signers,
    instructions: [...computeBudget(sent.units, sent.microLamports), ...sent.instructions],
    blockhash: sent.blockhash,
  });
  try {
    await cluster.send(wire);
  } catch (error) {
    throw explained(error);
  }
}

/** A refusal with the reason that the loader wrote into its log: the error itself is often a bare number. */
function explained(error: unknown): unknown {
  if (!isProblem(error, 'transaction_failed')) return error;
  const { logs } = error.detail ?? {};
  const lines = Array.isArray(logs) ? logs.map(String) : [];
  const reason = lines.findLast((line) => !FRAME.test(line))?.replace(/^Program log: /, '');
  if (reason === undefined) return error;
  return problem('transaction_failed', {
    message: `${error.message.replace(/\.$/, '')} (${reason}).`,
    ...(error.detail && { detail: error.detail }),
    cause: error,
  });
}

/** Lines of a log that say where a program begins and ends. */
const FRAME = /^Program \w+ (invoke|consumed|success|failed)\b/;
