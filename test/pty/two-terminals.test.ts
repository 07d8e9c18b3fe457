import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { farelockIn, type Runner } from '../e2e/farelock.ts';
import { proofTest } from '../proof-only.ts';
import { closeTerminals, openScreen, type Screen } from './terminal.ts';

/** Two shells on two terminals in one home: a number is a row of the list that its own shell has shown. */

let tool: Runner;
beforeAll(() => {
  tool = farelockIn({ FARELOCK_LOWCOST_MS: '10', FARELOCK_TICKETING_MS: '10' });
});
afterAll(() => tool.close());
afterEach(() => closeTerminals());

const shell = (): Screen => openScreen([], { isShell: true, env: tool.env, columns: 120, rows: 60 });

test('the first three commands of README, and what they ask, end with a booking reference', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
  const [search = '', intent = '', book = ''] = [...page.matchAll(/^farelock( .*?) +#/gm)].map(([, words]) => words);
  const screen = shell();
  screen.type(`$TOOL${search}\r`);
  await screen.shows(/1 Bare†[\s\S]*Next: farelock intent 1/);
  screen.type(`$TOOL${intent}\r`);
  await screen.shows(/Locked until[\s\S]*Next: farelock book\b/);
  screen.type(`$TOOL${book}\r`);
  const answers: [RegExp, string][] = [
    [/Given names/, 'Ana'],
    [/Family name/, 'Moreira'],
    [/Date of birth/, '1990-04-12'],
    [/Title/, ''],
    [/Gender/, ''],
    [/E-mail/, 'ana@example.com'],
    [/Phone/, '+351912345678'],
    [/Nationality/, 'PT'],
    [/Passport number/, 'AB123456'],
    [/Passport valid until/, '2035-01-01'],
    [/Pay [\d.]+ USDC and book\?/, ''],
  ];
  for (const [question, answer] of answers) {
    await screen.shows(new RegExp(`^\\? ${question.source}`, 'm'));
    screen.type(`${answer}\r`);
  }
  await screen.shows(/^[A-Z\d]{6} {2}booked$[\s\S]*Next: farelock order/m);
});

proofTest('each locks its own flight, and a third one without a list locks nothing', async () => {
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
