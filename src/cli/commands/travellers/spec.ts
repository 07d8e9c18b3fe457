import { argument, command, option } from '../../spec/define.ts';

export const travellersList = command({
  name: 'travellers list',
  summary: 'Names, and which passports are missing or have expired',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock travellers'],
  result: { list: 'travellers', schema: async () => (await import('./result.ts')).travellersList },
  load: async () => (await import('./run.ts')).travellersList,
});

export const travellersAdd = command({
  name: 'travellers add',
  summary: 'Save a traveller for `book --traveller`',
  arguments: [
    argument('<name>', 'what you call them, such as ana'),
    argument('[file]', 'JSON file with one passenger, - for standard input; on a terminal it asks'),
  ],
  options: [option('--replace', 'write over the traveller of that name')],
  effect: 'local',
  examples: ['farelock travellers add ana', 'farelock travellers add ana - < ana.json'],
  result: { schema: async () => (await import('./result.ts')).travellersAdd },
  cutOff: { look: 'travellers list' },
  load: async () => (await import('./run.ts')).travellersAdd,
});

export const travellersShow = command({
  name: 'travellers show',
  summary: 'Everything that is kept of a traveller, in clear',
  arguments: [argument('<name>')],
  effect: 'reads',
  examples: ['farelock travellers show ana'],
  result: { schema: async () => (await import('./result.ts')).travellersShow },
  load: async () => (await import('./run.ts')).travellersShow,
});

export const travellersRemove = command({
  name: 'travellers remove',
  summary: 'Remove a traveller for good',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock travellers remove ana'],
  result: { schema: async () => (await import('./result.ts')).travellersRemove },
  cutOff: { look: 'travellers list' },
  load: async () => (await import('./run.ts')).travellersRemove,
});
