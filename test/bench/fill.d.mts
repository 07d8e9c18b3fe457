/** Statements that fill a services' database: `rows` of each kind, of the last `days` (20) before `nowMs` (now). */
export function serviceStatements(given: {
  readonly rows: number;
  readonly days?: number;
  readonly nowMs?: number;
}): string;
