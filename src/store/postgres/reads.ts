import { Kysely, PostgresDialect } from 'kysely';
import type { Log } from '../../kernel/log.ts';
import { isProblem } from '../../kernel/problems.ts';
import { postgresRefusal } from './refusal.ts';
import { inWordsOfPg } from './url.ts';

/** Runs a read whose rows may be seconds old. */
export type Reads<T> = <R>(ask: (on: Kysely<T>) => Promise<R>) => Promise<R>;

const INT8 = 20;
const CONNECT_MS = 1_000;
const ANSWER_MS = 10_000;
/** How long a failed standby is left alone. */
const AWAY_MS = 10_000;

/** Reads from a standby, or from the primary while the standby is away or lacks an upgrade. */
export async function openReads<T>(given: {
  readonly url: string;
  readonly primary: Kysely<T>;
  readonly log: Log;
  readonly ownerIn: (on: Kysely<T>) => Promise<string | null>;
}): Promise<{ readonly reads: Reads<T>; close(): Promise<void> }> {
  const { url, primary, log, ownerIn } = given;
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({
    connectionString: inWordsOfPg(url),
    max: 4,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    types,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const standby = new Kysely<T>({ dialect: new PostgresDialect({ pool }) });
  let failedAtMs = Number.NEGATIVE_INFINITY;
  let isOurs = false;
  /** Refuses a wrong address: the refunds of another database would be believed. */
  const checkOwner = async (): Promise<void> => {
    isOurs ||= (await ownerIn(standby)) === (await ownerIn(primary));
    if (!isOurs) throw new Error('it is no standby of this database');
  };
  return {
    async reads(ask) {
      if (performance.now() - failedAtMs < AWAY_MS) return ask(primary);
      try {
        await checkOwner();
        return await ask(standby);
      } catch (error) {
        if (isProblem(error)) throw error;
        failedAtMs = performance.now();
        log('warn', 'standby_not_read', { reason: postgresRefusal(error).said });
        return ask(primary);
      }
    },
    close: () => standby.destroy(),
  };
}
