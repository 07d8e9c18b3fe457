import { booleanAnswer, epochAnswer, latestBlockhashAnswer } from './answers.ts';
import type { RpcCaller } from './caller.ts';

/** The level at which blockhashes are asked for and tried: a finalized one is old already, a processed one may vanish. */
export const CONFIRMED = { commitment: 'confirmed' } as const;
/** Blockhashes that were given out here and may still live. */
const MOST_REMEMBERED = 128;

/** `doubtful`: a node does not know it. It may have expired, and the node may be behind. */
type Life = 'alive' | 'over' | 'doubtful';

/** How long signed bytes can land. */
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
      return (await caller.read('isBlockhashValid', [blockhash, CONFIRMED], booleanAnswer))
        ? 'alive'
        : 'doubtful';
    },
  };
}

export type Lifetimes = ReturnType<typeof createLifetimes>;
