import { argument, choiceOption, command } from '../../spec/index.ts';

const SWITCHES = ['booking', 'lowcost'] as const;

export const turnSwitch = command({
  name: 'switch',
  summary: 'Operators: show the switches, or turn one on or off',
  arguments: [
    argument('[name]', SWITCHES.join(', '), choiceOption('name', SWITCHES)),
    argument('[state]', 'on, off', choiceOption('state', ['on', 'off'] as const)),
  ],
  effect: 'changes',
  examples: ['farelock switch', 'farelock switch booking off'],
  cutOff: { look: 'switch' },
});
