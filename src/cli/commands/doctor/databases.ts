import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FileState,
  loadClientInspect,
  type PostgresPlace,
  type PostgresRefused,
  type PostgresState,
} from '../../../client/index.ts';
import { type Clock, instant } from '../../../kernel/clock.ts';
import { isDatabaseUrl } from '../../../kernel/database-url.ts';
import { utcTime } from '../../../terminal/index.ts';
import { givenTo } from '../../settings/index.ts';
import { type Check, type Finding, failed, named, ok, type Patient, skewOf, stuck, warning } from './checks.ts';

/** Checks the databases of the services and of the tool, and their open work. */
export function databaseChecks({ home, environment, profile, clock, full }: Patient): Check[] {
  const journal = join(home, 'client.db');
  const services = join(home, 'service.db');
  const file = (id: string, path: string, look: 'inspectJournal' | 'inspectServices' | 'inspectOther'): Check => ({
    id,
    holdsThread: true,
    run: async () =>
      existsSync(path) ? stateOf(path, (await loadClientInspect())[look](path, full)) : ok('Not there yet'),
  });
  const server = givenTo('database_url', environment)?.text;
  const hasFile = profile.isEmbedded && !server;
  return [
    file('client_database', journal, 'inspectJournal'),
    ...(server ? postgresChecks(server, clock) : []),
    ...(hasFile ? [file('service_database', services, 'inspectServices')] : []),
    ...(profile.isEmbedded
      ? [
          file('ledger_database', join(home, 'ledger.db'), 'inspectOther'),
          file('airline_database', join(home, 'sandbox-airline.db'), 'inspectOther'),
        ]
      : []),
    { id: 'open_payments', run: async () => openPayments((await loadClientInspect()).openPaymentsIn(journal)) },
    ...(hasFile ? [{ id: 'stuck', run: async () => stuck((await loadClientInspect()).stuckIn(services)) }] : []),
  ];
}

function stateOf(path: string, state: FileState): Finding {
  const { kind, said, missing, newer, writer, users, isReadInPart } = state;
  const others = (users ?? []).filter((pid) => pid !== process.pid);
  if (kind === 'damaged') {
    return failed(
      `${path} is damaged: ${said}`,
      'Stop whatever uses it, keep a copy, and restore it from a backup.',
      `cp ${path} ${path}.damaged`,
    );
  }
  if (kind === 'unreadable') return failed(`${path} cannot be read: ${said}`, null, `ls -l ${path}`);
  if (kind === 'busy') {
    return failed(
      `${path} is locked by another process`,
      'Wait for it, or stop it.',
      ...(others[0] ? [`ps -p ${others[0]}`] : [`fuser -v ${path}`]),
    );
  }
  if (newer.length > 0) {
    return failed(`${path} was created by a newer version of farelock (${newer.join(', ')})`, 'Update farelock.');
  }
  if (missing.length > 0) {
    return warning(`${path} is behind by ${missing.join(', ')}`, 'The next command brings it up to date.');
  }
  if (writer !== null && writer !== process.pid) {
    return warning(
      `${path}: process ${writer} is writing, and holds the lock`,
      'Other commands wait up to 15 seconds. If it hangs, stop it: nothing is lost.',
      `ps -p ${writer}`,
    );
  }
  if (isReadInPart) {
    return warning(
      `${path} is large and was not read through: up to date, as far as that shows`,
      'To read all of it (this can take minutes), add --full.',
      'farelock doctor --full',
    );
  }
  return ok(others.length > 0 ? `Sound, in use by process ${others.join(', ')}` : 'Sound, up to date');
}

function openPayments(open: readonly { id: string; createdAtMs: number }[]): Finding {
  const [first] = open;
  if (!first) return ok('None');
  const since = utcTime(instant(first.createdAtMs));
  return warning(
    open.length === 1 ? `One since ${since}` : `${open.length}, the oldest since ${since}`,
    'They were signed but not answered. Resuming never pays twice.',
    'farelock payments list',
    `farelock payments resume ${first.id}`,
  );
}

/** Less than the limit of a check, so that a silent server is named. */
const PATIENCE_MS = 3000;

/** Reads a PostgreSQL database of the services, over one connection. */
function postgresChecks(url: string, clock: Clock): Check[] {
  let looking: Promise<PostgresState | PostgresRefused | null> | null = null;
  const look = async (signal: AbortSignal) => {
    const { inspectServer } = await loadClientInspect();
    if (!isDatabaseUrl(url)) return null;
    looking ??= inspectServer(url, { now: clock.now, timeoutMs: PATIENCE_MS, signal });
    return looking;
  };
  const inside =
    (finding: (state: PostgresState) => Finding): Check['run'] =>
    async (signal) => {
      const state = await look(signal);
      return state?.kind === 'fine' ? finding(state) : warning('Not checked: the database refused the connection');
    };
  return [
    { id: 'service_database', run: async (signal) => reached(await look(signal)) },
    { id: 'database_writing', run: inside(writing) },
    {
      id: 'database_clock',
      run: inside(({ aheadMs }) => {
        const fix = 'Turn on network time on both; leases and deadlines depend on it.';
        return skewOf('the database', Math.round(-aheadMs / 1000), fix);
      }),
    },
    { id: 'stuck', run: inside((state) => stuck(state.stuck)) },
  ];
}

function reached(state: PostgresState | PostgresRefused | null): Finding {
  if (state === null || !state.place.database) {
    return failed(
      'FARELOCK_DATABASE_URL must be the address of a PostgreSQL database',
      'It reads postgres://user:password@host:5432/database; unset it for the file under FARELOCK_HOME.',
    );
  }
  if (state.kind !== 'fine') return refused(state);
  const { place, version, isEmpty, missing, newer } = state;
  const said = `PostgreSQL ${version}, ${wordsOf(place)}`;
  if (newer.length > 0) {
    return failed(`${said}, was brought up to date by a newer farelock (${newer.join(', ')})`, 'Update farelock.');
  }
  if (isEmpty) return warning(`${said}, has no tables yet`, 'The next command that runs the services creates them.');
  if (missing.length > 0) {
    return warning(
      `${said}, is behind by ${named(missing)}`,
      'Back it up, then bring it up to date.',
      'farelock db migrate',
    );
  }
  return ok(`${said}, up to date`);
}

const wordsOf = ({ host, database, user }: PostgresPlace) => `${database} at ${host} as ${user}`;

/** The fix for each failure to connect; never shows the address itself. */
function refused({ kind, said, place }: PostgresRefused): Finding {
  const { host, database, user } = place;
  const at = `PostgreSQL at ${host}`;
  const flags = `-h ${host.startsWith('/') ? host : host.replace(/:(\d+)$/, ' -p $1')}`;
  const findings: Readonly<Record<typeof kind, Parameters<typeof failed>>> = {
    away: [
      `${at} is away: ${said}`,
      'Start it, or correct the host and the port in FARELOCK_DATABASE_URL.',
      `pg_isready ${flags}`,
    ],
    starting: [`${at} accepts no connections: ${said}`, 'Wait a moment.', 'farelock doctor'],
    full: [
      `${at} accepts no connections: ${said}`,
      'Raise its max_connections, or close some connections; each farelock process uses up to 10.',
    ],
    login: [
      `${at} refuses ${user}: ${said}`,
      'Correct the user and the password in FARELOCK_DATABASE_URL; in a password, write @ : / as %40 %3A %2F.',
    ],
    no_database: [
      `${at}: there is no database ${database}`,
      'Create it, or name another in FARELOCK_DATABASE_URL.',
      `createdb -h ${host.replace(/:(\d+)$/, ' -p $1')} -U ${user} ${database}`,
    ],
    encryption: [
      `${at} and farelock do not agree on encryption: ${said}`,
      'Set sslmode at the end of FARELOCK_DATABASE_URL: ?sslmode=verify-full, or disable on a private network.',
    ],
    other: [`PostgreSQL, ${wordsOf(place)}: ${said}`, 'Its log says more.'],
  };
  return failed(...findings[kind]);
}

function writing({ writing, lacking, place, isEmpty }: PostgresState): Finding {
  if (writing === 'read_only') {
    return failed(
      `PostgreSQL at ${place.host} is read-only: a replica, or set to read only`,
      'Name the primary in FARELOCK_DATABASE_URL.',
    );
  }
  if (writing === 'no_rights') {
    return failed(
      `${place.user} may not write to ${named(lacking)}`,
      'Grant it the rights, or connect as the owner of the tables.',
      `grant create, usage on schema public to "${place.user}";`,
      ...(isEmpty ? [] : [`grant select, insert, update, delete on all tables in schema public to "${place.user}";`]),
    );
  }
  return ok(`${place.user} may write (checked without writing)`);
}
