import { DAY_MS } from '../../kernel/clock.ts';
import { clientNetwork } from '../../kernel/network.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import { removeOld } from '../../store/index.ts';
import type { FlightsPorts } from './ports.ts';
import type { Tx } from './tables.ts';

/**
 * Throttling of wrong support codes and family names (CONTRACT, section 7). The code has 80 random bits; a thief of the
 * code could guess the name. Other clients' tries alone never block a client, or strangers could lock the owner out.
 *
 * - After 5 wrong tries a client has to wait, even with the right values, until 15 minutes after its fifth-last try.
 *   Every 5 more within a day double the wait, up to four hours.
 * - After 5 wrong tries by all clients on one intent in 15 minutes, a client that was wrong there waits 15 minutes
 *   after its last try, doubled for each earlier one, up to four hours. Others pass if right, and get 429 if wrong.
 *
 * Counting, comparing and recording are one transaction, so simultaneous tries are judged one after another.
 */
const MOST_WRONG = 5;
const WINDOW_MS = 15 * 60_000;
const REMEMBERED_MS = DAY_MS;
const MOST_DOUBLINGS = 4;

export const WRONG_CODES = { table: 'wrong_codes', key: 'id', at: 'at_ms' } as const;

export function createAttempts({ store, clock, ids }: Pick<FlightsPorts, 'store' | 'clock' | 'ids'>) {
  /** Judges one try. `isRight` must take equally long for right and wrong values. @throws `too_many_attempts` */
  return async function judge(
    { intentId, client }: { readonly intentId: string; readonly client: string },
    isRight: () => boolean,
  ): Promise<boolean> {
    const nowMs = clock.now();
    const [byClient, onIntent] = [`client:${client}`, `intent:${intentId}`];
    const own = `${onIntent}:${client}`;
    const verdict = await inTurn(store, [byClient, onIntent], async (tx) => {
      const recent = (subject: string, most: number) => wrongTries(tx, subject, nowMs, most);
      const ofClient = await recent(byClient, MOST_WRONG * (MOST_DOUBLINGS + 1));
      const clientWaitMs = waitOfClient(ofClient, nowMs);
      if (clientWaitMs > 0) return { waitMs: clientWaitMs };
      const fifth = (await recent(onIntent, MOST_WRONG))[MOST_WRONG - 1];
      const crowded = fifth !== undefined && fifth > nowMs - WINDOW_MS;
      const ownWaitMs = crowded ? waitOnIntent(await recent(own, MOST_DOUBLINGS + 1), nowMs) : 0;
      if (ownWaitMs > 0) return { waitMs: ownWaitMs };
      if (isRight()) return { isRight: true };
      const rows = [byClient, onIntent, own].map((subject) => ({ id: ids.next('req'), subject, at_ms: nowMs }));
      await tx.insertInto('wrong_codes').values(rows).execute();
      await removeOld(tx, WRONG_CODES, nowMs - REMEMBERED_MS);
      return crowded ? { waitMs: WINDOW_MS } : { isRight: false };
    });
    // Thrown after the transaction, so that the wrong try stays recorded.
    if ('waitMs' in verdict) {
      throw problem('too_many_attempts', { retryAfter: Math.ceil((verdict.waitMs ?? WINDOW_MS) / 1000) });
    }
    return verdict.isRight;
  };
}

/** Counts a free call before it runs, so that simultaneous calls all count. @returns false once the share is used up */
export const takeShare = (
  { store, clock, ids }: Pick<FlightsPorts, 'store' | 'clock' | 'ids'>,
  share: { readonly of: string; readonly client: string; readonly most: number; readonly withinMs: number },
): Promise<boolean> =>
  inTurn(store, [`${share.of}:${share.client}`], async (tx) => {
    // The embedded stack has only one caller.
    if (share.client === NO_ADDRESS) return true;
    const nowMs = clock.now();
    const subject = `${share.of}:${share.client}`;
    const taken = await wrongTries(tx, subject, nowMs, share.most);
    if (taken.filter((atMs) => atMs > nowMs - share.withinMs).length >= share.most) return false;
    await tx
      .insertInto('wrong_codes')
      .values({ id: ids.next('req'), subject, at_ms: nowMs })
      .execute();
    return true;
  });

async function wrongTries(tx: Tx, subject: string, nowMs: number, most: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('wrong_codes')
    .select('at_ms')
    .where('subject', '=', subject)
    .where('at_ms', '>', nowMs - REMEMBERED_MS)
    // Leaves out rows that were written before the clock was set back.
    .where('at_ms', '<', nowMs + WINDOW_MS)
    .orderBy('at_ms', 'desc')
    .limit(most)
    .execute();
  return rows.map((row) => row.at_ms);
}

function waitOfClient(triesMs: readonly number[], nowMs: number): number {
  const fifth = triesMs[MOST_WRONG - 1];
  if (fifth === undefined) return 0;
  const doublings = Math.floor(triesMs.length / MOST_WRONG) - 1;
  return fifth + WINDOW_MS * 2 ** doublings - nowMs;
}

function waitOnIntent(ownMs: readonly number[], nowMs: number): number {
  const last = ownMs[0];
  return last === undefined ? 0 : last + WINDOW_MS * 2 ** (ownMs.length - 1) - nowMs;
}

/** Names the one client of the embedded stack, which has no address. */
const NO_ADDRESS = 'local';

/** Names a client by a keyed hash of its connection's address, which is personal data. Headers are not trusted. */
export function clientOf(secrets: FlightsPorts['secrets'], address: string | undefined): string {
  if (!address) return NO_ADDRESS;
  return secrets.hmac('client address', clientNetwork(address)).slice(0, 32);
}
