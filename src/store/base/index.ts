import type { Kysely, KyselyPlugin, QueryExecutorProvider } from 'kysely';
import { DeleteQueryNode, InsertQueryNode, RawNode, sql, UpdateQueryNode } from 'kysely';
import { type Problem, problem } from '../../kernel/problems.ts';
import { type AppliedStep, appliedSteps, FORMER_STEPS, type Migration, STEPS } from './applied-steps.ts';

export * from './applied-steps.ts';
export * from './together.ts';
export * from './turns.ts';

export interface Migrating {
  /** True if a person asked for the migration. */
  readonly isTold?: boolean;
  readonly onMigrated?: (steps: readonly string[], tookMs: number) => void;
}

interface Migrated {
  readonly migrations: readonly Migration[];
  /** SQL that counts the tables of a name. */
  readonly hasTable: (table: string) => string;
  readonly name: string;
  /** SQL that counts all tables, if others may share the database: only an empty one is migrated unasked. */
  readonly countTables?: string;
}

/**
 * Applies missing steps in order, each with its mark, in one transaction, whose write lock makes two starts take turns.
 * @throws Problem `database_newer`, `database_not_migrated`, with nothing changed
 */
export async function migrate<T>(
  database: Kysely<T>,
  { migrations, hasTable, name, countTables }: Migrated,
  { isTold, onMigrated }: Migrating = {},
): Promise<void> {
  const count = async (on: Kysely<T>, query: string) => {
    const { rows } = await sql.raw<{ n: number }>(query).execute(on);
    return Number(rows[0]?.n ?? 0);
  };
  const has = async (on: Kysely<T>, table: string) => (await count(on, hasTable(table))) > 0;
  const missingOn = async (on: Kysely<T>) => {
    const steps = appliedSteps(await readSteps(on), migrations);
    if (steps.newer.length > 0) throw newer(name, steps.newer);
    return migrations.filter((step) => steps.missing.includes(step.name));
  };
  const isListed = await has(database, STEPS);
  const missing = isListed ? await missingOn(database) : migrations;
  if (isListed && missing.length === 0) return;
  if (countTables !== undefined && !isTold && (await count(database, countTables)) > 0) {
    // Another process may have taken all steps since the first look.
    if ((await has(database, STEPS)) && (await missingOn(database)).length === 0) return;
    throw notMigrated(
      name,
      missing.map((step) => step.name),
      isListed || (await has(database, FORMER_STEPS)),
    );
  }
  const beganMs = performance.now();
  const taken = await database.transaction().execute(async (tx) => {
    await sql.raw(`create table if not exists ${STEPS} (name text primary key, breaks bigint not null)`).execute(tx);
    if (await has(tx, FORMER_STEPS)) {
      await sql.raw(`insert into ${STEPS} (name, breaks) select name, 1 from ${FORMER_STEPS}`).execute(tx);
      await sql.raw(`drop table ${FORMER_STEPS}`).execute(tx);
    }
    const steps = await missingOn(tx);
    for (const { name, statements, rolls } of steps) {
      for (const statement of statements) await sql.raw(statement).execute(tx);
      await sql`insert into ${sql.table(STEPS)} (name, breaks) values (${name}, ${rolls ? 0 : 1})`.execute(tx);
    }
    return steps.map((step) => step.name);
  });
  onMigrated?.(taken, performance.now() - beganMs);
}

const readSteps = async (on: QueryExecutorProvider): Promise<AppliedStep[]> =>
  (await sql<AppliedStep>`select name, breaks from ${sql.table(STEPS)}`.execute(on)).rows;

const notMigrated = (name: string, steps: readonly string[], isOurs: boolean) =>
  problem('database_not_migrated', {
    message: isOurs
      ? `${name} lacks steps of this version: ${steps.join(', ')}.`
      : `${name} holds tables of something else, and none of farelock's.`,
    ...(!isOurs && {
      fix: 'Name an empty database or schema. To make the tables here all the same: farelock db migrate',
    }),
    detail: { steps },
  });

const LOOK_EVERY_MS = 1_000;

/** Looks, at most once a second, for the migration of a newer version: this process would miss rows that it moved. */
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
 * Marks writes that a power cut may lose, because we can redo them or their loss costs nothing. They survive kills,
 * and reach the disk after earlier writes and with the next write that waits for it. libsql acknowledges them before.
 * PostgreSQL ignores the mark.
 */
export const REGAINED = '/* regained */';

/** Marks all inserts, updates and deletes, but not raw SQL. */
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
