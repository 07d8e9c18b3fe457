import { command, option } from '../../spec/define.ts';
import { usdcOption } from '../../spec/options.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'The commands as tools of the Model Context Protocol; reads only, unless more is allowed',
  options: [
    option(
      '--allow-spending <usdc>',
      'for all payments together; --max-payment caps each',
      usdcOption('--allow-spending'),
    ),
    option('--allow-changes', 'also what changes orders, refunds and keys'),
  ],
  effect: 'runs',
  examples: ['farelock mcp', 'farelock mcp --allow-spending 250 --max-payment 200'],
  result: { schema: async () => (await import('./result.ts')).mcp },
  load: async () => (await import('./run.ts')).mcp,
});
