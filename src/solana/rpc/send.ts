import type { Signature } from '@solana/kit';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import type { SignatureStatus, Simulation } from '../cluster.ts';
import { blockhashOf, refused, signatureOf } from '../transaction.ts';
import { booleanAnswer, epochAnswer, latestBlockhashAnswer, preflightData, simulationAnswer } from './answers.ts';
import { pauseMs, type RpcCaller, silent } from './caller.ts';
import { RpcRefusal } from './member.ts';

const POLL_MS = 500;
const POLLS_PER_BROADCAST = 4;

/** Bounds the wait if the cluster stops; a blockhash lives about a minute. */
const LONGEST_WAIT_MS = 120_000;

/** After so many answers in a row without the blockhash, it counts as expired. */
const ENOUGH_DOUBT = 3;

/** One node took the bytes, all refused them, or it is unknown. */
type Broadcast =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly refusal: Problem }
  | { readonly kind: 'unheard'; readonly pauseMs: number | null };

interface Ports {
  readonly caller: RpcCaller;
  readonly clock: Clock;
  readonly lifetimes: Lifetimes;
}

/**
 * Simulates, sends the same bytes to every address every two seconds while they can land, and waits for confirmation.
 * @throws Problem `transaction_failed` when no node had it or it failed on chain; `cluster_failed` when unknown.
 */
export async function sendAndConfirm(
  wire: Uint8Array,
  ports: Ports & { readonly status: (signature: Signature) => Promise<SignatureStatus | null> },
): Promise<Signature> {
  const { caller, clock, status, lifetimes } = ports;
  const signature = signatureOf(wire);
  const deadlineMs = clock.now() + LONGEST_WAIT_MS;
  const settled = async (): Promise<boolean> => {
    const known = await status(signature);
    if (known && known.err !== null) throw refused(known.err, 'it failed on chain');
    return known !== null;
  };
  const tried = await tryOut(ports, wire, { verifySignatures: true });
  if (tried.err !== null) {
    // Landed bytes are refused too, if only because their blockhash has expired.
    if (await settled()) return signature;
    if (tried.err !== 'AlreadyProcessed') throw refused(tried.err, 'it fails when it is tried out', tried.logs);
  }
  // Once any node may have the bytes, later refusals mean nothing.
  let mayBeOut = tried.err !== null;
  for (let unheard = 0, doubts = 0; clock.now() < deadlineMs && doubts < ENOUGH_DOUBT; ) {
    const said = await broadcast(caller, wire);
    mayBeOut ||= said.kind !== 'refused' || said.refusal.detail?.error === 'AlreadyProcessed';
    if (said.kind === 'refused' && !mayBeOut) {
      if (await settled()) return signature;
      throw said.refusal;
    }
    if (said.kind === 'unheard') {
      if (await settled()) return signature;
      await clock.sleep(pauseMs(said.pauseMs, ++unheard));
    } else {
      for (let poll = 0; poll < POLLS_PER_BROADCAST; poll++) {
        if (await settled()) return signature;
        await clock.sleep(POLL_MS);
      }
    }
    const life = await lifetimes.of(blockhashOf(wire));
    doubts = life === 'doubtful' ? doubts + 1 : 0;
    if (life === 'over') break;
  }
  if (await settled()) return signature;
  throw problem('cluster_failed', {
    message: `Transaction ${signature} was sent, but the cluster does not say what happened to it.`,
    detail: { signature },
  });
}

/** Sends at the blockhash's commitment: a node that looks it up in an older block drops the bytes. */
async function broadcast(caller: RpcCaller, wire: Uint8Array): Promise<Broadcast> {
  const options = { encoding: 'base64', skipPreflight: true, preflightCommitment: 'confirmed', maxRetries: 0 };
  const params = [Buffer.from(wire).toString('base64'), options];
  const said = await caller.fromEach('sendTransaction', params, z.string());
  if (said.some((one) => one.kind === 'answer')) return { kind: 'taken' };
  const unheard = said.flatMap((one) => (one.kind === 'silence' ? [one] : []));
  const [refused] = said.flatMap((one) => (one.kind === 'refusal' ? [one.refusal] : []));
  if (refused && unheard.length === 0) return { kind: 'refused', refusal: refusal(refused) };
  const asked = unheard.flatMap(({ pauseMs: askedMs }) => (askedMs === null ? [] : [askedMs]));
  return { kind: 'unheard', pauseMs: asked.length > 0 ? Math.min(...asked) : null };
}

/** Blockhashes are taken at this level: finalized ones are old, processed ones may vanish. */
const CONFIRMED = { commitment: 'confirmed' } as const;

/** Blockhashes given out that may still live. */
const MOST_REMEMBERED = 128;

/** `doubtful`: expired, or the node is behind. */
type Life = 'alive' | 'over' | 'doubtful';

export function createLifetimes(caller: RpcCaller) {
  const lastValid = new Map<string, bigint>();
  const blockHeight = async (commitment: 'confirmed' | 'finalized'): Promise<bigint> =>
    (await caller.read('getEpochInfo', [{ commitment }], epochAnswer)).blockHeight;
  return {
    blockHeight,
    async latest() {
      const latest = await caller.read('getLatestBlockhash', [CONFIRMED], latestBlockhashAnswer);
      lastValid.set(latest.blockhash, latest.lastValidBlockHeight);
      const [oldest] = lastValid.keys();
      if (lastValid.size > MOST_REMEMBERED && oldest !== undefined) lastValid.delete(oldest);
      return latest;
    },
    async of(blockhash: string): Promise<Life> {
      const last = lastValid.get(blockhash);
      if (last !== undefined) return (await blockHeight('confirmed')) > last ? 'over' : 'alive';
      return (await caller.read('isBlockhashValid', [blockhash, CONFIRMED], booleanAnswer)) ? 'alive' : 'doubtful';
    },
  };
}

type Lifetimes = ReturnType<typeof createLifetimes>;

/** Lagging nodes lack a young blockhash for some seconds. */
const MOST_BEHIND = 6;

/** Simulates on a node that knows the blockhash while it lives. @throws Problem `cluster_failed` */
export async function tryOut(
  { caller, clock, lifetimes }: Ports,
  wire: Uint8Array,
  { verifySignatures }: { readonly verifySignatures: boolean },
): Promise<Simulation> {
  const how = { ...CONFIRMED, encoding: 'base64', sigVerify: verifySignatures };
  let doubts = 0;
  for (let attempt = 1; attempt <= MOST_BEHIND; attempt++) {
    const tried = await simulated(caller, [Buffer.from(wire).toString('base64'), how]);
    if (tried.err !== 'BlockhashNotFound') return tried;
    const life = await lifetimes.of(blockhashOf(wire));
    doubts = life === 'doubtful' ? doubts + 1 : 0;
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
    // An unreadable transaction is a result of the simulation too.
    return { err: refusal(error).detail?.error, logs: [], unitsConsumed: 0n };
  }
}

/** Keeps the runtime's error in `detail.error`. */
function refusal(error: RpcRefusal): Problem {
  const data = preflightData.safeParse(error.data);
  if (data.success) return refused(data.data.err, error.message, data.data.logs ?? []);
  return refused(error.code === -32003 ? 'SignatureFailure' : 'SanitizeFailure', error.message);
}
