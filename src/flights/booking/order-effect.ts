import type { Tx } from '../tables.ts';

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
  const last = await tx
    .selectFrom('effects')
    .select('effect_id')
    .where('subject', '=', intentId)
    .where('kind', '=', 'airline_order')
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
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
