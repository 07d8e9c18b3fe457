import type { Store, Tx } from '../tables.ts';

/** The last attempt at an order, of whatever outcome. There are few: sorting them here needs no index. */
export async function lastOrderEffect(on: Store | Tx, intentId: string) {
  const attempts = await on
    .selectFrom('effects')
    .select(['effect_id', 'state', 'attempt'])
    .where('subject', '=', intentId)
    .where('kind', '=', 'airline_order')
    .execute();
  return attempts.sort((a, b) => a.attempt - b.attempt).at(-1);
}

/**
 * Ends the order effect of an intent by what a person, or a late confirmation, said: it was made, or it was not. The
 * last attempt is the one that counts; where there was none, there is nothing to end.
 */
export async function concludeOrderEffect(
  tx: Tx,
  intentId: string,
  made: { readonly orderId: string } | null,
  nowMs: number,
): Promise<void> {
  const last = await lastOrderEffect(tx, intentId);
  if (!last) return;
  await tx
    .updateTable('effects')
    .set(
      made
        ? {
            state: 'done',
            live_key: `airline_order:${intentId}`,
            result: made.orderId,
            error: null,
            updated_at_ms: nowMs,
          }
        : { state: 'failed', live_key: null, error: 'decided_not_ticketed', updated_at_ms: nowMs },
    )
    .where('effect_id', '=', last.effect_id)
    .execute();
}
