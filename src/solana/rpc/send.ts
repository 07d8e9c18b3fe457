import type { Signature } from '@solana/kit';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import type { SignatureStatus } from '../cluster.ts';
import { blockhashOf, signatureOf } from '../transaction.ts';
import { booleanAnswer, preflightData } from './answers.ts';
import { askedPauseMs, pauseMs, type RpcCaller, RpcRefusal } from './caller.ts';

const POLL_MS = 500;
const POLLS_PER_BROADCAST = 4;
/** A blockhash lives about a minute; this is a bound for clusters that stand still. */
const LONGEST_WAIT_MS = 120_000;

/** A node's answer to the bytes: it took them, it refused them, or nobody knows. */
type Broadcast =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly refusal: Problem }
  | { readonly kind: 'unheard'; readonly pauseMs: number | null };

/**
 * Sends a signed transaction and waits until it is confirmed, broadcasting the same bytes again meanwhile: a
 * leader may drop them, and they land at most once.
 * @throws Problem `transaction_failed` when the first node that was asked refused it, so that nothing is on its way,
 *   or when it failed on chain; `cluster_failed` when what happened is not known.
 */
export async function sendAndConfirm(
  wire: Uint8Array,
  ports: {
    readonly caller: RpcCaller;
    readonly clock: Clock;
    readonly status: (signature: Signature) => Promise<SignatureStatus | null>;
  },
): Promise<Signature> {
  const { caller, clock, status } = ports;
  const signature = signatureOf(wire);
  const deadlineMs = clock.now() + LONGEST_WAIT_MS;
  const settled = async (): Promise<boolean> => {
    const known = await status(signature);
    if (known && known.err !== null) throw refusedWith(known.err, 'it failed on chain');
    return known !== null;
  };
  const alive = () => caller.read('isBlockhashValid', [blockhashOf(wire), CONFIRMED], booleanAnswer);
  let taken = false;
  // From the first answer that is not a refusal on, no refusal means anything: another node may have the bytes.
  let mayBeOut = false;
  for (let unheard = 0; clock.now() < deadlineMs; ) {
    const said = await broadcast(caller, wire, taken);
    // Bytes that landed before are refused, if only because their blockhash has expired since.
    if (said.kind === 'refused' && (await settled())) return signature;
    if (said.kind === 'refused' && !mayBeOut && !(await mayStillLand(said.refusal, alive)))
      throw said.refusal;
    mayBeOut ||= said.kind !== 'refused' || said.refusal.detail?.error === 'AlreadyProcessed';
    taken ||= said.kind === 'taken';
    if (said.kind === 'unheard') {
      if (await settled()) return signature;
      unheard++;
      await clock.sleep(pauseMs(said.pauseMs, unheard));
    } else {
      for (let poll = 0; poll < POLLS_PER_BROADCAST; poll++) {
        if (await settled()) return signature;
        await clock.sleep(POLL_MS);
      }
    }
    if (await alive()) continue;
    if (await settled()) return signature;
    break;
  }
  throw problem('cluster_failed', {
    message: `Transaction ${signature} was sent, but the cluster does not say what happened to it.`,
    detail: { signature },
  });
}

const CONFIRMED = { commitment: 'confirmed' };

async function broadcast(caller: RpcCaller, wire: Uint8Array, skipPreflight: boolean): Promise<Broadcast> {
  const options = { encoding: 'base64', preflightCommitment: 'confirmed', maxRetries: 0, skipPreflight };
  try {
    await caller.once('sendTransaction', [Buffer.from(wire).toString('base64'), options], z.string());
    return { kind: 'taken' };
  } catch (error) {
    if (error instanceof RpcRefusal) return { kind: 'refused', refusal: refusal(error) };
    if (isProblem(error, 'cluster_failed')) return { kind: 'unheard', pauseMs: askedPauseMs(error) };
    throw error;
  }
}

/**
 * A transaction in flight is refused as already processed before it is confirmed; and a node that lags does not
 * know a young blockhash yet. Neither is the cluster's last word.
 */
async function mayStillLand(refused: Problem, alive: () => Promise<boolean>): Promise<boolean> {
  const error = refused.detail?.error;
  return error === 'AlreadyProcessed' || (error === 'BlockhashNotFound' && (await alive()));
}

/** A refusal of the cluster as a problem, with the runtime's error in `detail.error`. */
export function refusal(error: RpcRefusal): Problem {
  const data = preflightData.safeParse(error.data);
  if (data.success) return refusedWith(data.data.err, error.message, data.data.logs ?? []);
  return refusedWith(error.code === -32003 ? 'SignatureFailure' : 'SanitizeFailure', error.message);
}

const refusedWith = (error: unknown, why: string, logs: readonly string[] = []): Problem =>
  problem('transaction_failed', {
    message: `The cluster refused the transaction: ${why}.`,
    detail: { error, logs },
  });
