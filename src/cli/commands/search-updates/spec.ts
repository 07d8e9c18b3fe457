import { argument, command, option } from '../../spec/define.ts';

export const searchUpdates = command({
  name: 'search-updates',
  summary: 'List the slower offers of a search as they arrive; free, for 30 minutes',
  arguments: [argument('<search-id>', 'search_id of the search')],
  options: [
    option('--cursor <cursor>', 'only newer offers: the cursor of the last answer'),
    option('--wait', 'wait until every seller has answered'),
  ],
  effect: 'reads',
  examples: ['farelock search-updates sch_… --wait --json'],
  result: { list: 'offers', schema: async () => (await import('./result.ts')).searchUpdates },
  load: async () => (await import('./run.ts')).searchUpdates,
});
