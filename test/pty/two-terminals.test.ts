import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { farelockIn, type Runner } from '../e2e/farelock.ts';
import { closeTerminals, openScreen, type Screen } from './terminal.ts';

/** Two shells on two terminals in one home: a number is a row of the list that its own shell has shown. */

let tool: Runner;
beforeAll(() => {
  tool = farelockIn();
});
afterAll(() => tool.close());
afterEach(() => closeTerminals());

const shell = (): Screen => openScreen([], { isShell: true, env: tool.env, columns: 120, rows: 60 });

test('each locks its own flight, and a third one without a list locks nothing', async () => {
  const [a, b, c] = [shell(), shell(), shell()];
  a.type('$TOOL search LIS BER --depart +30d --no-wait\r');
  await a.shows(/Next: farelock intent \d/);
  b.type('$TOOL search LIS MAD --depart +31d --no-wait\r');
  await b.shows(/Next: farelock intent \d/);
  a.type('$TOOL intent 1\r');
  expect(await a.shows(/Locked until[\s\S]*Next: farelock book/)).toMatch(/Locked until.*\n *LIS → BER/);
  b.type('$TOOL intent create 1\r');
  expect(await b.shows(/Locked until[\s\S]*Next: farelock book/)).toMatch(/Locked until.*\n *LIS → MAD/);
  c.type('$TOOL intent create 1; echo code $?\r');
  expect(await c.shows(/code \d/)).toMatch(/shown in another terminal[\s\S]*This call cost nothing[\s\S]*code 2/);
});
