import { command, option } from '../../spec/define.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Look at everything that commands stand on, and say what to do; exit 8 when something fails',
  options: [option('--full', 'read the databases to their last page, also large ones; it can take minutes')],
  effect: 'reads',
  examples: ['farelock doctor', 'farelock doctor --json status,checks', 'farelock doctor --full'],
  result: { schema: async () => (await import('./result.ts')).doctor },
  load: async () => (await import('./run.ts')).doctor,
});
