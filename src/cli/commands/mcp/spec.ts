import { choiceOption, command, option, usdcOption } from '../../spec/index.ts';

export const TOOL_SETS = ['travel', 'money', 'refunds', 'operator', 'partner', 'all'] as const;

const oneSet = choiceOption(TOOL_SETS);

export const mcp = command({
  name: 'mcp',
  summary: 'Serve the commands as Model Context Protocol tools; read-only unless you allow more',
  options: [
    option('--allow-spending <usdc>', 'allow payments of this much in total; --max-payment caps each', usdcOption),
    option('--allow-changes', 'also allow changes to orders, refunds and keys'),
    option(
      '--tools <sets>',
      `which tools, separated by commas: ${TOOL_SETS.join(', ')} (travel)`,
      (value: string, _before: unknown, flag: string) => value.split(',').map((one) => oneSet(one, undefined, flag)),
    ),
    option(
      '--output-schemas',
      'also list the schema of each answer, which is long; the schema tool gives them one by one',
    ),
  ],
  effect: 'runs',
  examples: [
    'farelock mcp',
    'farelock mcp --allow-spending 250 --max-payment 200',
    'farelock mcp --tools travel,refunds --allow-changes',
  ],
});
