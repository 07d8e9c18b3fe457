import { problem } from '../../kernel/problems.ts';
import type { IntentRow, Tx } from '../base/index.ts';

/**
 * Creations under way (CONTRACT, section 2). An escrow is opened before its creation is paid, with the operator's rent:
 * so one for each payer at a time, and a few altogether. The keys are in the intents themselves, unique: the bound holds
 * for all processes and survives any crash. It ends when the creation is shown, or its unpaid escrow is closed.
 */

export const creatingKey = {
  payer: (wallet: string): string => `payer:${wallet}`,
  closing: (intentId: string): string => `closing:${intentId}`,
};

/** A wallet has one living intent for an offer. */
export const activeKey = (wallet: string, offerId: string): string => `active:${wallet}:${offerId}`;

/** Why a creation can't begin now: another intent is in its way, or too many are under way. */
export type Taken =
  | { readonly by: 'pair' | 'payer'; readonly holder: IntentRow }
  | { readonly by: 'others'; readonly holder?: undefined };

/** Reads, in the transaction that would begin a creation, whether its payer and the bound allow it; null when they do. */
export async function takenBy(tx: Tx, row: Pick<IntentRow, 'creating_key'>, most: number): Promise<Taken | null> {
  const underWay = await tx
    .selectFrom('intents')
    .selectAll()
    .where('creating_key', 'is not', null)
    .limit(most)
    .execute();
  const holder = underWay.find(({ creating_key }) => creating_key === row.creating_key);
  if (holder) return { by: 'payer', holder };
  return underWay.length < most ? null : { by: 'others' };
}

export const creationUnderWay = () => problem('creation_under_way', { retryAfter: 2 });
export const creationsBusy = () => problem('creations_busy', { retryAfter: 5 });
