import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { CardIssuer } from './card.ts';
import type { Store } from './tables.ts';

interface Ports {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: { readonly cards: CardIssuer };
}

/** The words of its index. */
const TO_END = sql.raw<SqlBool>("card = 'ending'");
const MOST_AT_ONCE = 20;
const AGAIN_MS = 60_000;

/**
 * Has the issuer end the cards of purchases that bought nothing: the decision is written first (`callOff`). A card that
 * the issuer does not end now is tried again in a minute.
 */
export async function endCards({ store, clock, log, settings }: Ports): Promise<void> {
  const nowMs = clock.now();
  const due = await store
    .selectFrom('browser_purchases')
    .select('reference')
    .where(TO_END)
    .where('card_due_at_ms', '<=', nowMs)
    .orderBy('card_due_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  for (const { reference } of due) {
    const isEnded = await settings.cards.revoke(reference).then(
      () => true,
      (error: unknown) => {
        const name = error instanceof Error ? error.name : 'unknown';
        log('error', 'card_not_ended', { subject: reference, error_name: name });
        return false;
      },
    );
    await store
      .updateTable('browser_purchases')
      .set(isEnded ? { card: 'ended' } : { card_due_at_ms: nowMs + AGAIN_MS })
      .where('reference', '=', reference)
      .where(TO_END)
      .execute();
  }
}
