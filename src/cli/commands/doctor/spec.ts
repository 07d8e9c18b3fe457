import { command, option } from '../../spec/index.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Check your setup and say what to fix; exit 8 when something fails',
  options: [option('--full', 'read the whole databases, even large ones; this can take minutes')],
  effect: 'reads',
  examples: ['farelock doctor', 'farelock doctor --json status,checks', 'farelock doctor --full'],
});
