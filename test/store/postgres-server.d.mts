/** A PostgreSQL server of one's own, in a temporary folder, on a socket only. */
export interface TestPostgres {
  readonly url: string;
  readonly pid: number | undefined;
  /** Of its own, where its user may write. */
  readonly folder: string;
  readonly data: string;
  /** Runs a line of bash as the server's user, with the server's programs, which find this server. */
  sh(line: string): void;
  stop(): Promise<void>;
  begin(): Promise<void>;
  /** As `pg_ctl restart -m immediate`: it ends without a word to anybody, and recovers from its journal. */
  restart(): Promise<void>;
  /** A second server follows this one, and has each commit before it is acknowledged. @returns the address of both */
  follow(): Promise<string>;
  /** PgBouncer in transaction mode before this server. @returns its address */
  pool(): Promise<string>;
  /** The first server dies, and the second one is promoted. */
  failOver(): Promise<void>;
  close(): Promise<void>;
}

export const postgresIsInstalled: boolean;

export const pgbouncerIsInstalled: boolean;

/** Whether a server can run by another clock than the machine's: processes of a test's clock refuse any other. */
export const postgresKeepsTime: boolean;

/** @param how `settings`: more of its arguments, in place of `-F`, or a function of its folder; `log`: the file that takes its log; `nowMs`: its clock */
export function startPostgres(how?: {
  readonly settings?: readonly string[] | ((folder: string) => readonly string[]);
  readonly log?: string | null;
  readonly nowMs?: number | null;
}): Promise<TestPostgres>;
