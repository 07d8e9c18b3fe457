import {
  DeleteQueryNode,
  InsertQueryNode,
  type Kysely,
  type KyselyPlugin,
  type QueryExecutorProvider,
  RawNode,
  sql,
  UpdateQueryNode,
} from 'kysely';
import { type Problem, problem } from '../../kernel/problems.ts';
import { type AppliedStep, appliedSteps, FORMER_STEPS, type Migration, STEPS } from './applied-steps.ts';

export * from './applied-steps.ts';

/**
 * Applies what is missing, in order, each step in one transaction with its mark. The writer's lock of the transaction
 * makes two processes that start at once take turns; the second finds the work done. A database that is up to date is
 * only read.
 * @param hasTable counts the tables of a name, in the dialect's own words
 * @param name of the database, for a person
 * @throws Problem `database_newer`: it has steps that this version cannot work with; nothing was changed
 */
export async function migrate<T>(
  database: Kysely<T>,
  migrations: readonly Migration[],
  hasTable: (table: string) => string,
  name: string,
): Promise<void> {
  const has = async (on: Kysely<T>, table: string) => {
    const { rows } = await sql.raw<{ n: number }>(hasTable(table)).execute(on);
    return Number(rows[0]?.n ?? 0) > 0;
  };
  const missingOn = async (on: Kysely<T>) => {
    const steps = appliedSteps(await readSteps(on), migrations);
    if (steps.newer.length > 0) throw newer(name, steps.newer);
    return migrations.filter((step) => steps.missing.includes(step.name));
  };
  if ((await has(database, STEPS)) && (await missingOn(database)).length === 0) return;
  await database.transaction().execute(async (tx) => {
    await sql.raw(`create table if not exists ${STEPS} (name text primary key, breaks bigint not null)`).execute(tx);
    if (await has(tx, FORMER_STEPS)) {
      await sql.raw(`insert into ${STEPS} (name, breaks) select name, 1 from ${FORMER_STEPS}`).execute(tx);
      await sql.raw(`drop table ${FORMER_STEPS}`).execute(tx);
    }
    for (const { name, statements, rolls } of await missingOn(tx)) {
      for (const statement of statements) await sql.raw(statement).execute(tx);
      await sql`insert into ${sql.table(STEPS)} (name, breaks) values (${name}, ${rolls ? 0 : 1})`.execute(tx);
    }
  });
}

const readSteps = async (on: QueryExecutorProvider): Promise<AppliedStep[]> =>
  (await sql<AppliedStep>`select name, breaks from ${sql.table(STEPS)}`.execute(on)).rows;

const LOOK_EVERY_MS = 1_000;

/**
 * Watches for a newer version that migrates the database while this process runs, which would miss what was moved.
 * Reads at most once a second; what was found stays.
 */
export function watchSteps(
  database: QueryExecutorProvider,
  migrations: readonly Migration[],
  now: () => number,
): () => Promise<Problem | null> {
  let found: Problem | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (found || Math.abs(now() - lookedAtMs) < LOOK_EVERY_MS) return found;
    const { newer: steps } = appliedSteps(await readSteps(database), migrations);
    lookedAtMs = now();
    if (steps.length > 0) found = newer('The database', steps);
    return found;
  };
}

const newer = (name: string, steps: readonly string[]) =>
  problem('database_newer', {
    message: `${name} was made by a newer farelock: this version does not know ${steps.join(', ')}.`,
    fix: 'Use that version, or put a backup from before it back. Nothing was changed.',
    detail: { steps },
  });

/**
 * Marks a write that a power cut may lose because we can redo it, or because losing it costs nothing. It survives a
 * kill, and never without what was written before it. With libsql it is acknowledged before the disk has it; a later
 * write that waits for the disk waits for this one too. PostgreSQL ignores the mark.
 */
export const REGAINED = '/* regained */';

/** The same database or transaction, whose inserts, updates and deletes are marked. Raw SQL is not. */
export const regained = <Database extends { withPlugin(plugin: KyselyPlugin): Database }>(
  database: Database,
): Database => database.withPlugin(endsRegained);

const endsRegained: KyselyPlugin = {
  transformQuery: ({ node }) =>
    InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node)
      ? { ...node, endModifiers: [...(node.endModifiers ?? []), RawNode.createWithSql(REGAINED)] }
      : node,
  transformResult: async ({ result }) => result,
};
