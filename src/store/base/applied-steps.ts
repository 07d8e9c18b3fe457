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

/** The steps that a database has seen, as `schema_steps` lists them. */
export interface AppliedStep {
  readonly name: string;
  /** 1: a version that does not know the step may not use the database. */
  readonly breaks: number;
}

/** The list of earlier releases. The first one compared its length alone: without the list it fails at its first step. */
export const FORMER_STEPS = 'schema_migrations';

export const STEPS = 'schema_steps';

/** How far the migrations of a database have come. */
export interface AppliedSteps {
  /** Steps that this version knows and the database has not seen. */
  readonly missing: readonly string[];
  /** Steps that a newer version has made, and that this one cannot work with. */
  readonly newer: readonly string[];
}

export function appliedSteps(applied: readonly AppliedStep[], migrations: readonly Migration[]): AppliedSteps {
  const known = migrations.map((step) => step.name);
  return {
    missing: known.filter((step) => !applied.some(({ name }) => name === step)),
    newer: applied.filter(({ name, breaks }) => breaks && !known.includes(name)).map(({ name }) => name),
  };
}
