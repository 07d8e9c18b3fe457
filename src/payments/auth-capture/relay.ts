import type { SettleResponse } from '@x402/core/types';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import { type Cluster, type Landing, landingOf, type SignedTransaction, signatureOf } from '../../solana/index.ts';
import { insist, Refusal } from '../auth-capture-terms.ts';
import type { Store } from './store.ts';

/** A transaction that was sent, or is about to be sent. */
interface Row {
  /** The operation, such as `capture 40000 true`. A different one under the same key is refused. */
  readonly of: string;
  readonly wire: string;
  readonly lastValidBlockHeight: string;
  readonly signedAtMs: number;
  readonly answer?: SettleResponse;
}

interface Sending {
  /** Names what the chain does only once: an address to open, or an address with the amounts that it expects. */
  readonly key: string;
  readonly of: string;
  readonly sign: () => Promise<Pick<SignedTransaction, 'wire' | 'lastValidBlockHeight'>>;
  readonly answer: (transaction: string) => Promise<SettleResponse>;
  readonly pending: (transaction: string) => SettleResponse;
}

export type Relay = ReturnType<typeof createRelay>;

/**
 * Sends one transaction for each key. Its bytes are in the store before the cluster sees them: after a crash or a lost
 * answer, the next request asks the chain what became of them, and sends no other bytes while they can land.
 */
export function createRelay(ports: { readonly cluster: Cluster; readonly clock: Clock; readonly store: Store }) {
  const { cluster, clock, store } = ports;
  const read = (key: string) => store.update(key, (row) => ({ row, result: row as Row | null }));
  const drop = (key: string, { wire }: Row) =>
    store.update(key, (row) => ({ row: (row as Row | null)?.wire === wire ? null : row, result: undefined }));

  const bytesOf = ({ wire, lastValidBlockHeight, signedAtMs }: Row) => ({
    ...{ wire: new Uint8Array(Buffer.from(wire, 'base64')), signedAtMs },
    lastValidBlockHeight: BigInt(lastValidBlockHeight),
  });
  /** Finds what became of a row. `exclusive`: the chain admits only one transaction for a key. */
  const fateOf = async (row: Row): Promise<Landing['kind'] | 'rejected'> => {
    try {
      const landing = await landingOf(ports, bytesOf(row), { exclusive: true });
      return landing.kind === 'failed' ? (landing.final ? 'rejected' : 'unknown') : landing.kind;
    } catch (error) {
      if (isProblem(error, 'cluster_failed')) return 'unknown';
      throw error;
    }
  };

  /** Returns the key's row, or a new one if its transaction never landed. */
  async function rowFor({ key, of, sign }: Sending): Promise<{ readonly row: Row; readonly fresh: boolean }> {
    const there = await read(key);
    if (there?.of === of) return { row: there, fresh: false };
    if (there) {
      const fate = there.answer ? 'landed' : await fateOf(there);
      const gone = fate === 'dead' || fate === 'rejected';
      insist(
        gone,
        of.startsWith('authorize') ? 'already_authorized' : 'balance_mismatch',
        'another transaction was sent for this',
      );
      await drop(key, there);
    }
    const { wire, lastValidBlockHeight } = await sign();
    const mine: Row = {
      ...{ of, wire: Buffer.from(wire).toString('base64'), signedAtMs: clock.now() },
      lastValidBlockHeight: `${lastValidBlockHeight}`,
    };
    const row = await store.update(key, (found) => ({ row: found ?? mine, result: (found ?? mine) as Row }));
    insist(row.of === of, 'balance_mismatch', 'another transaction was sent for this');
    return { row, fresh: row.wire === mine.wire };
  }

  async function settle(sending: Sending): Promise<SettleResponse> {
    const { row, fresh } = await rowFor(sending);
    if (row.answer) return row.answer;
    const { wire } = bytesOf(row);
    const transaction = signatureOf(wire);
    const refused = await cluster.send(wire).then(
      () => null,
      (error: unknown) => {
        if (isProblem(error, 'cluster_failed', 'transaction_failed')) return error;
        throw error;
      },
    );
    const fate = refused ? await fateOf(row) : 'landed';
    // Refused by the first node, and not on chain. Only this row has all signatures, so it can't land later.
    const never = fresh && fate === 'open' && isProblem(refused, 'transaction_failed');
    if (never || fate === 'dead' || fate === 'rejected') {
      await drop(sending.key, row);
      throw new Refusal('simulation', refused?.message ?? 'the transaction did not land');
    }
    if (fate !== 'landed') return sending.pending(transaction);
    let answer: SettleResponse;
    try {
      answer = await sending.answer(transaction);
    } catch (error) {
      // It has landed, but the state that it left on chain cannot be read yet.
      if (isProblem(error, 'cluster_failed')) return sending.pending(transaction);
      throw error;
    }
    await store.update(sending.key, (found) => ({ row: { ...(found as Row), ...row, answer }, result: undefined }));
    return answer;
  }

  const turns = new Map<string, Promise<unknown>>();
  return {
    /** True if this was sent before: then its outcome is looked up without new checks. */
    knows: async (key: string, of: string): Promise<boolean> => (await read(key))?.of === of,
    /** Settles one at a time per key. @throws Refusal if it never landed, Problem `cluster_failed` before sending */
    async settle(sending: Sending): Promise<SettleResponse> {
      const { key } = sending;
      const turn = (turns.get(key) ?? Promise.resolve()).then(() => settle(sending));
      const settled = turn.catch(() => undefined);
      turns.set(key, settled);
      try {
        return await turn;
      } finally {
        if (turns.get(key) === settled) turns.delete(key);
      }
    },
  };
}
