import { type SqlBool, sql } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Store } from './tables.ts';

/** A card as a till asks for it. It exists in memory alone: nothing may write it down, log it, or show it. */
export interface Card {
  /** Digits. */
  readonly number: string;
  /** YYYY-MM. */
  readonly expiry: string;
  readonly cvc: string;
  readonly holder: string;
}

interface CardRequest {
  /** The purchase's own: asked again, it is the same card. */
  readonly reference: string;
  /** The card can be charged once, exactly this amount. */
  readonly amountDecimal: string;
  readonly currency: string;
  /** The carrier's name, for an issuer that ties a card to who may charge it. */
  readonly merchant: string;
}

/** Issues virtual cards, each for one purchase. */
export interface CardIssuer {
  /** Its cards are invented: they buy nothing anywhere but in a sandbox. */
  readonly isSandbox: boolean;
  /** @throws Problem `provider_failed` where there is no card: nothing was bought then */
  issue(request: CardRequest): Promise<Card>;
  /** Ends a card that was not used. Does nothing to one that is gone, or was never issued. */
  revoke(reference: string): Promise<void>;
}

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
