import { command, option, usdcOption } from '../../spec/index.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'Serve the commands as Model Context Protocol tools; read-only unless you allow more',
  options: [
    option('--allow-spending <usdc>', 'allow payments of this much in total; --max-payment caps each', usdcOption),
    option('--allow-changes', 'also allow changes to orders, refunds and keys'),
  ],
  effect: 'runs',
  examples: ['farelock mcp', 'farelock mcp --allow-spending 250 --max-payment 200'],
});
