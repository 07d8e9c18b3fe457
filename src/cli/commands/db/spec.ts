import { command, option } from '../../spec/index.ts';

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
