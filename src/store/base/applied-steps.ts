/** A released migration never changes, and suits SQLite and PostgreSQL: `bigint` for integers, `text` otherwise. */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
  /** True if older versions may go on using the database after it. */
  readonly rolls?: true;
}

export interface AppliedStep {
  readonly name: string;
  /** 1: versions that lack the step may not use the database. */
  readonly breaks: number;
}

/** The list of the first release, which compared only its length: without the list that release fails at once. */
export const FORMER_STEPS = 'schema_migrations';

export const STEPS = 'schema_steps';

/** Finds unapplied steps, and newer ones that this version cannot work with. */
export function appliedSteps(applied: readonly AppliedStep[], migrations: readonly Migration[]) {
  const known = migrations.map((step) => step.name);
  return {
    applied: applied.map(({ name }) => name),
    missing: known.filter((step) => !applied.some(({ name }) => name === step)),
    newer: applied.filter(({ name, breaks }) => breaks && !known.includes(name)).map(({ name }) => name),
  };
}

export type AppliedSteps = ReturnType<typeof appliedSteps>;
