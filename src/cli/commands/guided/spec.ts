import { command } from '../../spec/index.ts';

export const guided = command({
  name: 'guided',
  summary: 'Search, choose and book step by step; `farelock` alone on a terminal',
  effect: 'runs',
  examples: ['farelock guided'],
});
