import { type Driver, Kysely, type OperationNode, type RawBuilder, sql, type Transaction } from 'kysely';
import { type TakesTurns, unlessUndone } from './turns.ts';

/** A division by zero, by which PostgreSQL undoes the whole statement if the first write found no row. */
const DIVIDED_BY_NOTHING = '22012';

/**
 * Runs all writes or none: as one statement on a database of several writers, as a transaction in a file. The writes
 * must not read, nor write to the same row.
 * @param lost makes the error if the first write finds no row in one statement; in a file that write throws by itself
 */
export async function together<T>(
  store: Kysely<T>,
  writes: (on: Transaction<T>) => Promise<unknown>,
  lost: () => Error,
): Promise<void> {
  const { adapter } = store.getExecutor();
  if (!('taking' in adapter)) return void (await store.transaction().execute(writes));
  const [first, ...others] = await recorded(store, adapter as TakesTurns, writes);
  if (!first) return;
  const rest = others.map((write, place) => sql`, ${sql.ref(`write_${place + 2}`)} as (${write})`);
  const all = sql`with write_1 as (${first} returning 1)${sql.join(rest, sql``)} select 1 / count(*) from write_1`;
  try {
    await unlessUndone(() => all.execute(store));
  } catch (error) {
    throw (error as { code?: unknown }).code === DIVIDED_BY_NOTHING ? lost() : error;
  }
}

/** Records the statements of writes without running them: each is answered as if it had found its row. */
async function recorded<T>(store: Kysely<T>, adapter: TakesTurns, writes: (on: Transaction<T>) => Promise<unknown>) {
  const statements: RawBuilder<unknown>[] = [];
  const connection = {
    async executeQuery<R>({ query }: { readonly query: OperationNode }) {
      if (query.kind === 'SelectQueryNode') throw new Error('what is written together reads nothing');
      statements.push(sql`${{ toOperationNode: () => query }}`);
      return { rows: [] as R[], numAffectedRows: 1n };
    },
    streamQuery(): never {
      throw new Error('a write is not streamed');
    },
  };
  const nothing = async () => undefined;
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  };
  const recorder = new Kysely<T>({ dialect: adapter.dialectOver(driver), plugins: [...store.getExecutor().plugins] });
  await recorder.transaction().execute(writes);
  return statements;
}
