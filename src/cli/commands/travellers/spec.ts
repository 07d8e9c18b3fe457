import { argument, command, option } from '../../spec/index.ts';

export const travellersList = command({
  name: 'travellers list',
  summary: 'List saved travellers, and passports that are missing or expired',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock travellers'],
  list: 'travellers',
});

export const travellersAdd = command({
  name: 'travellers add',
  summary: 'Save a traveller for `book --traveller`',
  arguments: [
    argument('<name>', 'a short name, such as ana'),
    argument('[file]', 'JSON file with one passenger, - for standard input; on a terminal it asks'),
  ],
  options: [option('--replace', 'overwrite the traveller with that name')],
  effect: 'local',
  examples: ['farelock travellers add ana', 'farelock travellers add ana - < ana.json'],
  cutOff: { look: 'travellers list' },
});

export const travellersShow = command({
  name: 'travellers show',
  summary: 'Show everything saved about a traveller, unmasked',
  arguments: [argument('<name>')],
  effect: 'reads',
  examples: ['farelock travellers show ana'],
});

export const travellersRemove = command({
  name: 'travellers remove',
  summary: 'Delete a traveller',
  arguments: [argument('<name>')],
  effect: 'local',
  examples: ['farelock travellers remove ana'],
  cutOff: { look: 'travellers list' },
});
