import type { Kysely } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import type { ClientTables } from './store-schema.ts';
import type { ClientStore } from './store-types.ts';

const place = (intentId: string) => `intents.typed_sealed.${intentId}`;

/** Passengers as a person has typed them, sealed, for as long as their lock lives. */
export function createTypedStore({
  db,
  secrets,
  clock,
}: {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
}): Pick<ClientStore, 'keepTyped' | 'typed'> & { forgetEnded(): Promise<void> } {
  /** What was typed for a lock that has ended is of no use any more. */
  const forgetEnded = async () => {
    await db
      .updateTable('intents')
      .set({ typed_sealed: null, typed_until_ms: null })
      .where('typed_until_ms', '<=', clock.now())
      .execute();
  };
  return {
    forgetEnded,
    async keepTyped(intentId, typed, untilMs) {
      await forgetEnded();
      const kept = db.updateTable('intents').where('intent_id', '=', intentId);
      if (typed.length === 0) {
        const nothing = { typed_sealed: null, typed_until_ms: null };
        // A row that stays what it is would be written, and waited for.
        await kept.set(nothing).where('typed_sealed', 'is not', null).execute();
        return;
      }
      const sealed = secrets.encrypt(place(intentId), JSON.stringify(typed));
      await kept.set({ typed_sealed: sealed, typed_until_ms: untilMs }).execute();
    },
    async typed(intentId) {
      await forgetEnded();
      const row = await db
        .selectFrom('intents')
        .select('typed_sealed')
        .where('intent_id', '=', intentId)
        .executeTakeFirst();
      const sealed = row?.typed_sealed ?? null;
      return sealed === null ? [] : JSON.parse(secrets.decrypt(place(intentId), sealed));
    },
  };
}
