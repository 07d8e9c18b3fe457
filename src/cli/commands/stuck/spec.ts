import { argument, choiceOption, collected, command, option } from '../../spec/index.ts';

export const stuckList = command({
  name: 'stuck list',
  summary: 'List bookings, refunds, pay-outs and effects that need a decision',
  isDefault: true,
  effect: 'reads',
  examples: ['farelock stuck'],
});

export const stuckShow = command({
  name: 'stuck show',
  summary: 'Show what the chain and the airline say, and the possible decisions',
  arguments: [argument('<id>')],
  options: [option('--evidence [folder]', 'save the last screenshots and page texts to a folder')],
  effect: 'reads',
  examples: [
    'farelock stuck show int_…',
    'farelock stuck show int_… --evidence ./evidence',
    'farelock stuck show VIE-LIS --evidence',
  ],
});

export const stuckResolve = command({
  name: 'stuck resolve',
  summary: 'Decide a case by what the airline said; shows the plan, then asks',
  arguments: [
    argument('<id>'),
    argument(
      '<decision>',
      'ticketed, not-ticketed, cancelled, retry',
      choiceOption(['ticketed', 'not_ticketed', 'cancelled', 'retry']),
    ),
  ],
  options: [
    option('--reference <pnr>', 'with ticketed: the booking reference'),
    option('--ticket <number>', 'with ticketed: a ticket number; repeatable', collected),
  ],
  effect: 'changes',
  examples: ['farelock stuck resolve int_… ticketed --reference ABC123 --ticket 020-1234567890'],
  cutOff: { look: 'stuck show {id}' },
});
