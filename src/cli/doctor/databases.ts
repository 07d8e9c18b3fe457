import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../../client/inspect.ts';
import { instant } from '../../kernel/clock.ts';
import { utcTime } from '../../terminal/times.ts';
import { secret } from '../session/secret-variable.ts';
import { type Check, type Finding, failed, ok, type Patient, stuck, warning } from './checks.ts';
import { postgresChecks } from './postgres.ts';

/** The databases of the services and of the tool, and what is still open in them. */
export function databaseChecks({ home, environment, profile, clock, full }: Patient): Check[] {
  const inspect = () => import('../../client/inspect.ts');
  const journal = join(home, 'client.db');
  const services = join(home, 'service.db');
  const file = (id: string, path: string, look: (path: string) => Promise<FileState>): Check => ({
    id,
    holdsThread: true,
    run: async () => (existsSync(path) ? stateOf(path, await look(path)) : ok('Not there yet')),
  });
  const server = secret(environment, 'FARELOCK_DATABASE_URL');
  const hasFile = profile.isEmbedded && !server;
  return [
    file('client_database', journal, async (path) => (await inspect()).inspectJournal(path, full)),
    ...(server ? postgresChecks(server, clock) : []),
    ...(hasFile
      ? [file('service_database', services, async (path) => (await inspect()).inspectServices(path, full))]
      : []),
    ...(profile.isEmbedded
      ? [
          file('ledger_database', join(home, 'ledger.db'), async (path) =>
            (await inspect()).inspectOther(path, full),
          ),
          file('airline_database', join(home, 'sandbox-airline.db'), async (path) =>
            (await inspect()).inspectOther(path, full),
          ),
        ]
      : []),
    { id: 'open_payments', run: async () => openPayments((await inspect()).openPaymentsIn(journal)) },
    ...(hasFile ? [{ id: 'stuck', run: async () => stuck((await inspect()).stuckIn(services)) }] : []),
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
    return failed(
      `${path} was created by a newer version of farelock (${newer.join(', ')})`,
      'Update farelock.',
    );
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
  return warning(
    open.length === 1 ? `One since ${sinceOf(first)}` : `${open.length}, the oldest since ${sinceOf(first)}`,
    'They were signed but not answered. Resuming never pays twice.',
    'farelock payments list',
    `farelock payments resume ${first.id}`,
  );
}

const sinceOf = ({ createdAtMs }: { createdAtMs: number }) => utcTime(instant(createdAtMs));
