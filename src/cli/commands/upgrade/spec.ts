import { command } from '../../spec/index.ts';

export const upgrade = command({
  name: 'upgrade',
  summary: 'Show the newest version and the command that installs it here; changes nothing',
  effect: 'reads',
  examples: ['farelock upgrade'],
  result: { schema: async () => (await import('./result.ts')).upgrade },
  load: async () => (await import('./run.ts')).upgrade,
});
