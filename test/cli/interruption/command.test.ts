import { expect, test } from 'vitest';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { commandCutOff } from '../../../src/cli/interruption/failed.ts';
import { commandsOf, specNamed } from '../../../src/cli/spec/command.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { lineOf } from '../../../src/kernel/shell-word.ts';

const spec = (name: string) => {
  const found = specNamed(TOOL, name);
  if (!found) throw new Error(name);
  return found;
};
const failed = { argv: ['x'], invocation: null, session: null };

/** Repeating them makes nothing new: a code of a wallet is made once, apply and tokens keep count, settings are set. */
const HARMLESS_TWICE = ['affiliate create', 'partner orders apply', 'keys token'];

test('every command that changes records says where to look after an interruption, or can be repeated', () => {
  const changing = commandsOf(TOOL).filter(({ effect }) => effect === 'changes');
  const silent = changing.filter(({ cutOff }) => !cutOff).map(({ name }) => name);
  expect(silent.sort()).toEqual([...HARMLESS_TWICE].sort());
});

test('at a question nothing was changed; in the middle of a call it may have been', async () => {
  const asked = problem('interrupted', { message: 'Interrupted at a question.', isAtQuestion: true });
  expect((await commandCutOff(asked, spec('keys issue'), failed)).message).toBe(
    'Interrupted at a question. Nothing changed.',
  );
  const cut = await commandCutOff(problem('interrupted'), spec('keys issue'), failed);
  expect([cut.message, cut.next.map(lineOf)]).toEqual([
    'Interrupted. The change may have been made.',
    ['farelock keys list'],
  ]);
  expect((await commandCutOff(problem('timed_out'), spec('search'), failed)).message).toBe(
    'Timed out. Nothing was paid.',
  );
});
