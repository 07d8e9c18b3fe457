import { argument, command } from '../../spec/index.ts';

export const schema = command({
  name: 'schema',
  summary: "Print the JSON Schema of a command's --json output",
  arguments: [argument('[command...]', 'such as search, or error; without one, lists all names')],
  effect: 'reads',
  examples: ['farelock schema search', 'farelock schema'],
});
