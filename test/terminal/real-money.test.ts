import { expect, test } from 'vitest';
import { openTerminal } from '../../src/terminal/terminal.ts';

/** Real money is marked where an amount is written as one, and nowhere else. */

test('an amount is marked MAINNET once money is real; words with an amount in them stay as they are', async () => {
  const written: string[] = [];
  const output = { isTTY: false, columns: null, write: (text: string) => void written.push(text) };
  const terminal = await openTerminal(
    { stdout: output, stderr: output, stdin: { isTTY: false, text: async () => '' } },
    { json: false, fields: null, quiet: false, verbose: false, input: false, color: false },
    {},
    () => {
      throw new Error('nobody is asked');
    },
  );
  const show = () => {
    terminal.note(`This costs ${terminal.usdc(12_500_000)}.`);
    terminal.result({ reason: 'I paid 5 USDC for a seat' }, { lines: ({ reason }) => [reason] });
  };
  show();
  terminal.realMoney();
  show();
  expect(written).toEqual([
    'This costs 12.50 USDC.\n',
    'I paid 5 USDC for a seat\n',
    'This costs 12.50 USDC (MAINNET).\n',
    'I paid 5 USDC for a seat\n',
  ]);
});
