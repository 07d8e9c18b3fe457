import { version } from '../../../../package.json' with { type: 'json' };
import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { lineOf } from '../../../kernel/shell-word.ts';
import { screenWidth } from '../../../terminal/index.ts';
import { buildTree, describeTool, helpOf, type Run } from '../../spec/index.ts';
import type * as spec from './spec.ts';

/**
 * Prints the help on a command, as `--help` does, or under --json the command tree: each command with its arguments,
 * options, their types and defaults, examples and effect.
 * @throws Problem `usage` for an unknown command
 */
export const help: Run<typeof spec.help> = async ({ tool, terminal, streams }, { command: path, all }) => {
  const written: string[] = [];
  const output = {
    write: (text: string) => {
      written.push(text);
    },
    width: Math.min(100, streams.stdout.isTTY ? screenWidth(streams.stdout) : 80),
  };
  const program = buildTree(tool, version, output, () => undefined, { first: null, isWhole: all === true });
  let found = program;
  for (const [depth, name] of path.entries()) {
    const child = found.commands.find((one) => one.name() === name);
    if (!child) {
      const group = helpOf(path.slice(0, depth));
      throw problem('usage', {
        message: `There is no command "${path.join(' ')}". ${didYouMean(
          name,
          found.commands.map((one) => one.name()),
        )}`.trim(),
        fix: `See ${lineOf(group)}.`,
        next: [group],
      });
    }
    found = child;
  }
  if (!terminal.settings.json) {
    found.outputHelp();
    terminal.tell(written.join('').trimEnd().split('\n'));
    return 0;
  }
  const described = describeTool(tool, version);
  const name = path.join(' ');
  const commands = described.commands.filter(
    (one) => path.length === 0 || one.name === name || one.name.startsWith(`${name} `),
  );
  terminal.result({ ...described, commands }, { lines: () => [] });
  return 0;
};
