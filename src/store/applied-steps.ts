/**
 * One step of a database's life. A step, once released, never changes. Every statement is understood by SQLite and
 * by PostgreSQL: `bigint` for integers, `text` for everything else.
 */
export interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** How far the migrations of a database have come. */
export interface AppliedSteps {
  /** Steps that this version knows and the database has not seen. */
  readonly missing: readonly string[];
  /** Steps that a newer version has made. */
  readonly newer: readonly string[];
}

export function appliedSteps(applied: readonly string[], migrations: readonly Migration[]): AppliedSteps {
  const known = migrations.map((step) => step.name);
  return {
    missing: known.filter((step) => !applied.includes(step)),
    newer: applied.filter((step) => !known.includes(step)),
  };
}
