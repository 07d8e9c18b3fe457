import type { Address } from '@solana/kit';
import { type SqlBool, sql } from 'kysely';
import { loadAccount } from '../../escrow/index.ts';
import { inTurn } from '../../store/base/index.ts';
import { type FlightsPorts, pageWhile, type Store } from '../base/index.ts';
import { DATABASE_BEHIND, retire } from '../bookings/index.ts';
import { isMarked } from '../refunds/index.ts';

const MOST_AT_ONCE = 100;

/**
 * Finds acts that the chain shows done and the database never began: the database was put back. Such intents leave sale
 * and come to a person, paid refunds say so at approval, and an operator is paged once.
 * @returns `isBehind` while something of it waits for a person
 */
export async function findRestored(ports: FlightsPorts) {
  const { store, clock, log } = ports;
  const ended = await endedIntents(ports);
  for (const intent_id of ended) {
    await inTurn(store, [`intents:${intent_id}`], (tx) => retire(tx, { intent_id }, DATABASE_BEHIND, clock.now()));
    log('error', DATABASE_BEHIND, { intent_id });
  }
  const paid = await paidRequests(ports);
  const waiting = await store
    .selectFrom('bookings')
    .select('intent_id')
    .where(sql<SqlBool>`state = 'stuck'`)
    .where('updated_at_ms', '>', 0)
    .where('refund_reason', '=', DATABASE_BEHIND)
    .limit(1)
    .execute();
  const isBehind = ended.length + paid.length + waiting.length > 0;
  await pageWhile(ports, {
    key: DATABASE_BEHIND,
    event: DATABASE_BEHIND,
    restored: 'database_caught_up',
    text: isBehind
      ? 'Money moved on the chain that the database does not know: it was restored to an earlier state. See farelock stuck.'
      : null,
    fields: { intents: ended.length, refunds: paid.length },
  });
  return { worked: ended.length, isBehind };
}

/** Intents for sale whose escrow was captured or refunded without an effect of ours. The chain is read first. */
async function endedIntents({ store, clock, cluster }: FlightsPorts): Promise<string[]> {
  const intents = await store
    .selectFrom('intents')
    .select(['intent_id', 'escrow_address', 'program_id'])
    .where('active_key', 'is not', null)
    .where('expires_at_ms', '>', clock.now())
    .where('opened_at_ms', 'is not', null)
    .where(sql<SqlBool>`not exists (select 1 from bookings where bookings.intent_id = intents.intent_id)`)
    .orderBy('expires_at_ms')
    .limit(MOST_AT_ONCE)
    .execute();
  if (intents.length === 0) return [];
  const { escrowIn } = await loadAccount();
  const accounts = await cluster.accounts(intents.map((one) => one.escrow_address as Address));
  const ended = intents.filter(({ program_id }, place) => {
    const escrow = escrowIn(accounts[place], [program_id as Address]);
    return escrow !== null && escrow.state !== 'open';
  });
  return withoutEffects(store, idsOf(ended), ['capture', 'refund']);
}

const idsOf = (rows: readonly { readonly intent_id: string }[]): string[] => rows.map(({ intent_id }) => intent_id);

async function paidRequests(ports: FlightsPorts): Promise<string[]> {
  const requests = await ports.store
    .selectFrom('refund_requests')
    .select('intent_id')
    .where(sql<SqlBool>`state in ('received', 'approved', 'stuck') and state = 'received'`)
    .where('requested_at_ms', '>', 0)
    .orderBy('requested_at_ms', 'desc')
    .limit(MOST_AT_ONCE)
    .execute();
  const ids = idsOf(requests);
  const marked = ids.length === 0 ? [] : await isMarked(ports, ids);
  const paid = ids.filter((_id, place) => marked[place]);
  return withoutEffects(ports.store, paid, ['payout']);
}

async function withoutEffects(
  store: Store,
  subjects: readonly string[],
  kinds: readonly ('capture' | 'refund' | 'payout')[],
): Promise<string[]> {
  if (subjects.length === 0) return [];
  const known = await store
    .selectFrom('effects')
    .select('subject')
    .where('subject', 'in', subjects)
    .where('kind', 'in', kinds)
    .execute();
  return subjects.filter((subject) => !known.some((row) => row.subject === subject));
}
