import { argument, command, option } from '../../spec/define.ts';

export const configList = command({
  name: 'config list',
  summary: 'List the settings in effect',
  options: [option('--show-origin', 'show the flag, variable or file each one comes from')],
  effect: 'reads',
  examples: ['farelock config list --show-origin'],
  result: { list: 'settings', schema: async () => (await import('./result.ts')).configList },
  load: async () => (await import('./run.ts')).configList,
});

export const configGet = command({
  name: 'config get',
  summary: 'Show one setting',
  arguments: [argument('<key>')],
  effect: 'reads',
  examples: ['farelock config get flights_url'],
  result: { schema: async () => (await import('./result.ts')).configGet },
  load: async () => (await import('./run.ts')).configGet,
});

export const configSet = command({
  name: 'config set',
  summary: 'Change a setting of the profile in use; keys are read from standard input with -',
  arguments: [argument('<key>'), argument('<value>')],
  effect: 'local',
  examples: ['farelock config set flights_url https://flights.example'],
  result: { schema: async () => (await import('./result.ts')).configSet },
  load: async () => (await import('./run.ts')).configSet,
});

export const configUnset = command({
  name: 'config unset',
  summary: 'Remove a setting from the profile in use',
  arguments: [argument('<key>')],
  effect: 'local',
  examples: ['farelock config unset rpc_url'],
  result: { schema: async () => (await import('./result.ts')).configUnset },
  load: async () => (await import('./run.ts')).configUnset,
});
