/** A server's refusal without its address, which may hold a password. */
export interface PostgresRefusal {
  readonly kind: 'away' | 'starting' | 'full' | 'login' | 'no_database' | 'encryption' | 'other';
  readonly said: string;
}

const AWAY = /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ENOENT|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE)$/;

/** @param error of `pg`, with a system's code or an SQLSTATE */
export function postgresRefusal(error: unknown): PostgresRefusal {
  const { code = '', message } = deepest(error);
  if (AWAY.test(code)) return { kind: 'away', said: `nothing listens there (${code})` };
  if (/timeout|terminated unexpectedly/.test(message)) return { kind: 'away', said: 'it did not answer' };
  if (code === '57P03') return { kind: 'starting', said: 'it is starting or stopping' };
  if (code === '53300') return { kind: 'full', said: 'it has no connection left' };
  if (code === '3D000') return { kind: 'no_database', said: 'it has no database of that name' };
  if (/password must be a string|empty password/.test(message)) {
    return { kind: 'login', said: 'it wants a password, and none is given' };
  }
  if (/no pg_hba.conf entry.*no encryption/.test(message) || /SSL|certificate|TLS/i.test(`${code} ${message}`)) {
    return { kind: 'encryption', said: message };
  }
  if (/^28/.test(code)) return { kind: 'login', said: message };
  return { kind: 'other', said: message.split('\n')[0] ?? '' };
}

/** Lost connections: shutdown (57P), silence in a transaction (25P03), slow statement (57014), connection (08). */
const LOST = /^(57P0[1-3]|57014|25P03|53300|08\d{3})$/;

/** True for an unanswered statement, whose outcome is unknown. */
export const isSilence = ({ message }: Error): boolean => message === 'Query read timeout';

/** True for an unreachable database, which is worth retrying, unlike a refused statement. */
export function isDatabaseAway(error: unknown): boolean {
  const cause = deepest(error);
  const { code = '', message } = cause;
  return (
    AWAY.test(code) ||
    LOST.test(code) ||
    isSilence(cause) ||
    /^Connection terminated|is not queryable$|^timeout exceeded when trying to connect/.test(message)
  );
}

/** A host of several addresses fails with one error for each. */
function deepest(error: unknown): Error & { readonly code?: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return deepest(error.errors[0]);
  return error instanceof Error ? error : new Error(String(error));
}
