import { expect, test } from 'vitest';
import { LOOK, whereItStands } from '../../../src/cli/interruption/where-it-stands.ts';
import { EFFECTS } from '../../../src/cli/spec/manual.ts';
import { problem } from '../../../src/kernel/problems.ts';

const failed = { argv: ['x'], invocation: null, session: null };

/** Repeating them makes nothing new: a code of a wallet is made once, apply and tokens keep count, settings are set. */
const HARMLESS_TWICE = ['affiliate create', 'partner orders apply', 'keys token'];

test('every command that changes records says where to look after an interruption, or can be repeated', () => {
  const changing = Object.keys(EFFECTS).filter((name) => EFFECTS[name] === 'changes');
  expect(changing.filter((name) => !(name in LOOK) && !HARMLESS_TWICE.includes(name))).toEqual([]);
});

test('at a question nothing was changed; in the middle of a call it may have been', async () => {
  const asked = problem('interrupted', { message: 'Interrupted at a question.' });
  expect((await whereItStands(asked, 'keys issue', failed)).message).toBe(
    'Interrupted at a question. Nothing was changed.',
  );
  const cut = await whereItStands(problem('interrupted'), 'keys issue', failed);
  expect([cut.message, cut.next]).toEqual([
    'Interrupted. The change may have been made.',
    ['farelock keys list'],
  ]);
  expect((await whereItStands(problem('timed_out'), 'search', failed)).message).toBe(
    'That took too long. Nothing was paid.',
  );
});
