import { argument, command, option } from '../../spec/index.ts';
import { sellers } from '../serve/spec.ts';

export const dbStatus = command({
  name: 'db status',
  summary: "Show the services' database: its steps, its tables and how long they keep rows",
  isDefault: true,
  effect: 'reads',
  examples: ['farelock db', 'farelock db status --json'],
});

export const dbMigrate = command({
  name: 'db migrate',
  summary: "Bring the services' database up to date with this version",
  effect: 'runs',
  examples: ['farelock db migrate --dry-run', 'farelock db migrate'],
});

export const dbCheck = command({
  name: 'db check',
  summary: 'Look for damage, missing parts and rows that contradict each other; exit 8 when some are found',
  options: [option('--full', 'read every page and index of a file; this can take minutes')],
  effect: 'reads',
  examples: ['farelock db check', 'farelock db check --full'],
  list: 'checks',
});

const passphraseFile = option('--passphrase-file <file>', 'a file with the passphrase');

export const dbBackup = command({
  name: 'db backup',
  summary: 'Copy the databases of this home into one file, while services run; keys only with a passphrase',
  arguments: [argument('<file>')],
  options: [passphraseFile],
  effect: 'runs',
  examples: ['farelock db backup monday.backup', 'farelock db backup monday.backup --passphrase-file passphrase'],
  list: 'files',
});

export const dbRestore = command({
  name: 'db restore',
  summary: 'Put a backup into an empty home',
  arguments: [argument('<file>')],
  options: [passphraseFile],
  effect: 'runs',
  examples: ['farelock db restore monday.backup --passphrase-file passphrase'],
  list: 'files',
});

export const dbReconcile = command({
  name: 'db reconcile',
  summary: 'After a restore: compare the database with cluster and airline, and go on from there',
  options: [
    option('--needed', 'only note that it is needed: bookings, refunds and pay-outs wait until it has run'),
    option('--since <time>', 'look back so far (default: to the newest row, or when the backup was made)'),
    ...sellers,
  ],
  effect: 'runs',
  examples: ['farelock db reconcile --dry-run', 'farelock db reconcile', 'farelock db reconcile --needed'],
  list: 'findings',
});
