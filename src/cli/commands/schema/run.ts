import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { type Run, readSchema, schemaNameOf, schemaNames, specNamed } from '../../spec/index.ts';
import type * as spec from './spec.ts';

/**
 * Prints the JSON Schema (draft 2020-12) of a command's --json output; without a command, the names of all schemas.
 * @throws Problem `not_found`
 */
export const schema: Run<typeof spec.schema> = async ({ terminal, tool }, { command = [] }) => {
  const names = schemaNames();
  if (command.length === 0) {
    terminal.result({ schemas: names }, { lines: () => names });
    return 0;
  }
  const said = command.join(' ').trim().toLowerCase().replace(/\s+/g, ' ');
  const wanted = schemaNameOf(specNamed(tool, said) ?? { name: said });
  // The default command of a group: `stuck` is `stuck list`.
  const name = [wanted, `${wanted}-list`, `${wanted}-show`, `${wanted}-create`, `${wanted}-request`].find((one) =>
    names.includes(one),
  );
  if (name === undefined) {
    throw problem('not_found', {
      message: `There is no schema for "${command.join(' ')}".`,
      fix: didYouMean(wanted, names) || 'List them all.',
      next: [farelock`schema`],
    });
  }
  const found = readSchema(name);
  terminal.result(found, { lines: () => JSON.stringify(found, null, 2).split('\n') });
  return 0;
};
