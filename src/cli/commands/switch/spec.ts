import { argument, choiceOption, command } from '../../spec/index.ts';

export const turnSwitch = command({
  name: 'switch',
  summary: 'Operators: show the switches, or turn one on or off',
  arguments: [
    argument('[name]', 'booking, lowcost', choiceOption(['booking', 'lowcost'])),
    argument('[state]', 'on, off', choiceOption(['on', 'off'])),
  ],
  effect: 'changes',
  examples: ['farelock switch', 'farelock switch booking off'],
  cutOff: { look: 'switch' },
});
