import { command } from '../../spec/index.ts';

export const upgrade = command({
  name: 'upgrade',
  summary: 'Show the newest version and the command that installs it here; changes nothing',
  effect: 'reads',
  examples: ['farelock upgrade'],
});
