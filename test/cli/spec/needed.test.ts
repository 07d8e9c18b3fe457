import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { commandsOf } from '../../../src/cli/spec/command.ts';
import { buildTree, neededFor } from '../../../src/cli/spec/tree.ts';

const output = { write: () => undefined, width: 80 };
const treeFor = (...argv: string[]) => buildTree(TOOL, '1.0.0', output, () => undefined, neededFor(TOOL, argv));
const whole = buildTree(TOOL, '1.0.0', output, () => undefined);

const helpOf = (program: Command, path: readonly string[]) =>
  path.reduce((group, name) => group.commands.find((one) => one.name() === name) ?? group, program).helpInformation();

test.each([
  ['--help', ['--help']],
  ['-h', ['-h']],
  ['nothing at all', []],
])('the help of all commands is the same with what %s needs', (_name, argv) => {
  expect(treeFor(...argv).helpInformation()).toBe(whole.helpInformation());
});

test('the help of a command, and of its groups, is the same with what its line needs', () => {
  for (const { name } of commandsOf(TOOL)) {
    const path = name.split(' ');
    const tree = treeFor(...path, '--help');
    for (const depth of path.keys()) {
      const part = path.slice(0, depth + 1);
      expect(helpOf(tree, part), part.join(' ')).toBe(helpOf(whole, part));
    }
  }
});

test('a line that begins with one command sets up no other; one that does not sets up all', () => {
  const names = (...argv: string[]) => treeFor(...argv).commands.map((one) => one.name());
  expect(names('intent', 'create')).toEqual(['intent']);
  expect(names('--version')).toEqual([]);
  expect(names('serach')).toEqual(whole.commands.map((one) => one.name()));
  expect(names('--json', 'search')).toEqual(whole.commands.map((one) => one.name()));
});

test('no help is wider than a terminal of 60 columns, where a word could be cut', () => {
  const narrow = { ...output, width: 60 };
  const overview = buildTree(TOOL, '1.0.0', narrow, () => undefined, neededFor(TOOL, ['--help'])).helpInformation();
  const tree = buildTree(TOOL, '1.0.0', narrow, () => undefined);
  const texts = commandsOf(TOOL).flatMap(({ name }) => {
    const path = name.split(' ');
    return path.map((_, depth) => helpOf(tree, path.slice(0, depth + 1)));
  });
  const lines = [overview, ...texts].join('\n').split('\n');
  expect(lines.filter((line) => line.length > 60 && !line.startsWith('Usage: '))).toEqual([]);
});
