import type { Notification } from '@modelcontextprotocol/server';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openProgress } from '../../../src/cli/commands/mcp/progress.ts';
import { openTerminal } from '../../../src/terminal/terminal.ts';

/** A client that gave a token hears of its call each second. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function listening(token: string | undefined) {
  const heard: Notification[] = [];
  return {
    heard,
    progress: openProgress({
      ...(token !== undefined && { _meta: { progressToken: token } }),
      notify: async (one) => void heard.push(one),
    }),
  };
}

test('the seconds go up, with the phase that the command is in', () => {
  const { heard, progress } = listening('t1');
  vi.advanceTimersByTime(1_000);
  progress.phase('Paying for the ticket');
  vi.advanceTimersByTime(1_000);
  progress.stop();
  vi.advanceTimersByTime(5_000);
  expect(heard.map(({ method, params }) => [method, params])).toEqual([
    ['notifications/progress', { progressToken: 't1', progress: 1 }],
    ['notifications/progress', { progressToken: 't1', progress: 2, message: 'Paying for the ticket…' }],
  ]);
});

test('a quick call, and a client that gave no token, get nothing', () => {
  const quick = listening('t1');
  vi.advanceTimersByTime(900);
  quick.progress.stop();
  const silent = listening(undefined);
  vi.advanceTimersByTime(9_000);
  expect([...quick.heard, ...silent.heard]).toEqual([]);
});

test('a phase is what the command says it is, however a remark ends', async () => {
  const heard: string[] = [];
  const output = { isTTY: false, columns: null, write: () => undefined };
  const terminal = await openTerminal(
    {
      stdout: output,
      stderr: output,
      stdin: { isTTY: false, text: async () => '' },
      phase: (text) => void heard.push(text),
    },
    { json: true, fields: null, quiet: false, verbose: false, input: false, color: false },
    {},
    () => {
      throw new Error('nobody is asked');
    },
  );
  terminal.phase('Paying for the ticket');
  terminal.note('The traveller is called Ana Maria…');
  expect(heard).toEqual(['Paying for the ticket']);
});
