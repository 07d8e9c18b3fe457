import { argument, command, option } from '../../spec/define.ts';
import { choiceOption, collected } from '../../spec/options.ts';

const DECISIONS = ['ticketed', 'not_ticketed', 'cancelled', 'retry'] as const;

export const stuckList = command({
  name: 'stuck list',
  summary: 'Bookings, refunds, pay-outs and effects that a person must look at',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock stuck'],
  result: { schema: async () => (await import('./result.ts')).stuckList },
  load: async () => (await import('./run.ts')).stuckList,
});

export const stuckShow = command({
  name: 'stuck show',
  summary: 'What chain and airline say, and what can be decided',
  arguments: [argument('<id>')],
  effect: 'reads',
  examples: ['farelock stuck show int_…'],
  result: { schema: async () => (await import('./result.ts')).stuckShow },
  load: async () => (await import('./run.ts')).stuckShow,
});

export const stuckResolve = command({
  name: 'stuck resolve',
  summary: 'End it by what the airline said; shows what moves, then asks',
  arguments: [
    argument('<id>'),
    argument('<decision>', 'ticketed, not-ticketed, cancelled, retry', choiceOption('decision', DECISIONS)),
  ],
  options: [
    option('--reference <pnr>', 'with ticketed: the booking reference'),
    option('--ticket <number>', 'with ticketed: a ticket number; once for each', collected),
  ],
  effect: 'changes',
  examples: ['farelock stuck resolve int_… ticketed --reference ABC123 --ticket 020-1234567890'],
  result: { schema: async () => (await import('./result.ts')).stuckResolve },
  cutOff: { look: 'stuck show {id}' },
  load: async () => (await import('./run.ts')).stuckResolve,
});
