import type { Address } from '@solana/kit';
import { closeAuthorizationInstructions, readEscrow, reclaimInstructions } from '../../escrow/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import { associatedTokenAddress, type Cluster, type Signer, signPriced, TOKEN_PROGRAM } from '../../solana/index.ts';
import { insist, type Place, SCHEME } from '../auth-capture-terms.ts';
import type { Store } from './store.ts';

/** A hold whose rent is lent, or about to be lent. */
interface Hold {
  readonly escrow: Address;
  readonly programId: Address;
  /** The fee payer that lends it. */
  readonly rentPayer: Address;
  readonly lentAtMs: number;
  /** It has returned the vault's rent, and waits to be closed. */
  readonly ended?: true;
}

/** A hold that is not on chain after this time never will be: a blockhash lives two minutes. */
const LANDS_WITHIN_MS = 10 * 60_000;

/** Keeps a list of each payer's holds: caps the open ones, and gets the lent rent back. */
export function createHolds(ports: {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly store: Store;
  readonly feePayer: Signer;
}) {
  const { cluster, clock, store, feePayer } = ports;
  const prefix = `${SCHEME}:holds:${cluster.network}:`;
  const listOf = (key: string) => store.update(key, (row) => ({ row, result: (row ?? []) as Hold[] }));
  const change = (key: string, by: (list: Hold[]) => Hold[]) =>
    store.update(key, (row) => {
      const list = by((row ?? []) as Hold[]);
      return { row: list.length > 0 ? list : null, result: list };
    });

  const stateOf = async ({ escrow, programId, rentPayer, lentAtMs }: Hold) => {
    const found = await readEscrow(cluster, escrow, [programId]);
    // The payer may have opened it first, with rent of its own: once it has ended, nothing lent is left in it.
    const lenders = [rentPayer, feePayer.address];
    if (found?.kind === 'authorization' && (found.state === 'open' || lenders.includes(found.rentPayer))) return found;
    return clock.now() - lentAtMs < LANDS_WITHIN_MS ? 'landing' : 'gone';
  };
  const forget = (key: string, { escrow }: Hold) => change(key, (list) => list.filter((one) => one.escrow !== escrow));

  /** Sends the rest of an overdue hold back to its payer, or closes a hold that has ended. */
  async function tidied(key: string, hold: Hold, nowS: number): Promise<'reclaimed' | 'closed' | null> {
    const found = await stateOf(hold);
    if (found === 'landing') return null;
    if (found === 'gone') {
      await forget(key, hold);
      return null;
    }
    const send = async (instructions: Parameters<typeof signPriced>[1]['instructions']) => {
      const { wire } = await signPriced(cluster, { feePayer, instructions });
      await cluster.send(wire);
    };
    // A token account that the payer closed is not created again: the payer could take its rent time after time.
    const refundAccount = await associatedTokenAddress(found.refundOwner, found.mint);
    const sent = { authorization: found, feePayer: feePayer.address, refundAccount };
    if (found.state === 'open') {
      if (nowS < Number(found.refundAfter)) return null;
      await send(await reclaimInstructions(sent));
      return 'reclaimed';
    }
    if (found.captured > 0n && nowS < Number(found.refundDeadline)) return null;
    // Its lender closes it, perhaps another process over the same rows.
    if (found.rentPayer !== feePayer.address) return null;
    const [vault] = await cluster.accounts([found.vault]);
    const sweeps = vault?.owner === TOKEN_PROGRAM;
    await send(await closeAuthorizationInstructions({ ...sent, closer: feePayer.address, sweeps }));
    await forget(key, hold);
    return 'closed';
  }

  return {
    /** Lists a payer's hold before its rent is lent. @throws Refusal `too_many_holds` */
    async lend(payer: Address, { escrow, programId }: Place, most: number): Promise<void> {
      const key = prefix + payer;
      const hold: Hold = { escrow, programId, rentPayer: feePayer.address, lentAtMs: clock.now() };
      const isIn = (list: Hold[]) => list.some((one) => one.escrow === escrow);
      const add = (list: Hold[]) =>
        isIn(list) || list.filter((one) => !one.ended).length >= most ? list : [...list, hold];
      const listed = await change(key, add);
      if (isIn(listed)) return;
      for (const one of listed) {
        const found = await stateOf(one);
        if (found === 'gone') await forget(key, one);
        if (typeof found === 'object' && found.state !== 'open')
          await change(key, (list) =>
            list.map((each) => (each.escrow === one.escrow ? { ...each, ended: true } : each)),
          );
      }
      insist(isIn(await change(key, add)), 'too_many_holds', `the payer has ${most} open holds here`);
    },

    async tidy() {
      const nowS = await cluster.unixTime();
      const done = { reclaimed: 0, closed: 0, failed: 0 };
      for (const key of await store.keys(prefix)) {
        for (const hold of await listOf(key)) {
          try {
            const did = await tidied(key, hold, nowS);
            if (did) done[did] += 1;
          } catch (error) {
            if (!isProblem(error, 'transaction_failed', 'cluster_failed')) throw error;
            done.failed += 1;
          }
        }
      }
      return done;
    },
  };
}
