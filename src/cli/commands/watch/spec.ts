import {
  airportOption,
  argument,
  collected,
  command,
  durationOption,
  option,
  required,
  usdcOption,
} from '../../spec/index.ts';
import { filterOptions, journeyOptions } from '../search/spec.ts';

const [, ...party] = journeyOptions;
const watchArgument = argument('[watch-id]', 'id of the watch; the newest one that has not ended');

export const watch = command({
  name: 'watch',
  summary: 'Watch a route or an offer within a daily budget, until its price falls',
  arguments: [
    argument('<from>', 'airport or city; or an offer, by its row number or id', airportOption),
    argument('[to]', 'airport or city', airportOption),
  ],
  options: [
    option('--depart <date>', 'day of departure: 2026-12-20, 20 Dec, +30d'),
    ...party,
    ...filterOptions,
    required(
      '--below <amount>',
      'ends with exit code 0 below this price in US dollars, for all travellers',
      usdcOption,
    ),
    option('--every <time>', 'from one look to the next (4h; for an offer 15m)', durationOption),
    option('--daily <usdc>', 'the most that all looks of 24 hours may cost', usdcOption),
    option('--until <date>', 'last day of the watch (the departure)'),
    option('--notify <way>', 'page, mail:<address> or command:<program>; repeatable', collected),
  ],
  effect: 'runs',
  examples: [
    'farelock watch LIS BER --depart 2026-12-20 --below 120 --every 4h --daily 0.60',
    'farelock watch LIS BER --depart +30d --no-basic --below 120 --notify mail:ana@example.com --yes',
    'farelock watch 1 --below 110 --notify command:./tell.sh',
  ],
});

export const watchList = command({
  name: 'watch list',
  summary: 'List the watches of this home',
  effect: 'reads',
  examples: ['farelock watch list'],
  list: 'watches',
});

export const watchResume = command({
  name: 'watch resume',
  summary: 'Go on with a watch that was stopped, within the budget that was agreed to',
  arguments: [watchArgument],
  effect: 'runs',
  examples: ['farelock watch resume'],
});

export const watchHistory = command({
  name: 'watch history',
  summary: 'Show the prices that a watch has seen',
  arguments: [watchArgument],
  effect: 'reads',
  examples: ['farelock watch history', 'farelock watch history wch_… --json looks'],
  list: 'looks',
});

export const watchEnd = command({
  name: 'watch end',
  summary: 'End a watch for good',
  arguments: [watchArgument],
  effect: 'local',
  examples: ['farelock watch end wch_…'],
});
