/**
 * One step of a database's life. A step, once released, never changes. Every statement is understood by SQLite and
 * by PostgreSQL: `bigint` for integers, `text` for everything else.
 */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
  /** Versions that do not know this step may go on reading and writing beside it. */
  readonly rolls?: true;
}

/** A step that a database has seen, as `schema_steps` lists it. */
export interface AppliedStep {
  readonly name: string;
  /** 1: a version that does not know the step may not use the database. */
  readonly breaks: number;
}

/** The list of earlier releases. The first one compared its length alone: without the list it fails at its first step. */
export const FORMER_STEPS = 'schema_migrations';

export const STEPS = 'schema_steps';

/** Compares a database's steps with ours: those it has not seen, and newer ones that this version cannot work with. */
export function appliedSteps(applied: readonly AppliedStep[], migrations: readonly Migration[]) {
  const known = migrations.map((step) => step.name);
  return {
    missing: known.filter((step) => !applied.some(({ name }) => name === step)),
    newer: applied.filter(({ name, breaks }) => breaks && !known.includes(name)).map(({ name }) => name),
  };
}

export type AppliedSteps = ReturnType<typeof appliedSteps>;
