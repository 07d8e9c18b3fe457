import { type Kysely, sql } from 'kysely';
import { problem } from '../kernel/problems.ts';
import { appliedSteps, type Migration } from './applied-steps.ts';

/**
 * Applies what is missing, in order, each step in one transaction with its mark. The writer's lock of the transaction
 * makes two processes that start at once take turns; the second finds the work done. `tableExists` counts the tables
 * named schema_migrations, in the dialect's own words: a database that is up to date is only read.
 * @param name of the database, for a person
 * @throws Problem `database_newer`: it has steps that this version does not know; nothing was changed
 */
export async function migrate<T>(
  database: Kysely<T>,
  migrations: readonly Migration[],
  tableExists: string,
  name: string,
): Promise<void> {
  const applied = async (on: Kysely<T>) => {
    const rows = await sql<{ name: string }>`select name from schema_migrations`.execute(on);
    return new Set(rows.rows.map((row) => row.name));
  };
  const missingAfter = (done: ReadonlySet<string>) => {
    const steps = appliedSteps([...done], migrations);
    if (steps.newer.length > 0) throw newer(name, steps.newer);
    return migrations.filter((step) => steps.missing.includes(step.name));
  };
  const { rows } = await sql.raw<{ n: number }>(tableExists).execute(database);
  if (Number(rows[0]?.n ?? 0) > 0 && missingAfter(await applied(database)).length === 0) return;
  await database.transaction().execute(async (tx) => {
    await sql`create table if not exists schema_migrations (name text primary key)`.execute(tx);
    for (const migration of missingAfter(await applied(tx))) {
      for (const statement of migration.statements) await sql.raw(statement).execute(tx);
      await sql`insert into schema_migrations (name) values (${migration.name})`.execute(tx);
    }
  });
}

const newer = (name: string, steps: readonly string[]) =>
  problem('database_newer', {
    message: `${name} was made by a newer farelock: this version does not know ${steps.join(', ')}.`,
    fix: 'Use that version, or put a backup from before it back. Nothing was changed.',
    detail: { steps },
  });
