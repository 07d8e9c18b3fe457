import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, type Runner } from './farelock.ts';

/** A watch whose process is killed (kill -9) around its first look: the next one goes on with it, and pays it once. */

let tool: Runner;
beforeAll(async () => {
  tool = farelockIn();
  await tool.run(['wallet', 'show']);
});
afterAll(() => tool.close());

/** Runs a command that goes on, and sends it a signal so long after it has said something. */
async function stopped(args: readonly string[], said: RegExp, afterMs: number, signal: NodeJS.Signals) {
  const child = spawn(process.execPath, [BIN, ...args], { env: tool.env, stdio: ['ignore', 'ignore', 'pipe'] });
  let text = '';
  child.stderr.on('data', (more: Buffer) => {
    const isNew = !said.test(text);
    text += more.toString();
    if (isNew && said.test(text)) setTimeout(() => child.kill(signal), afterMs);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return { code, text };
}

const paymentsOf = async () =>
  (await tool.run(['payments', 'list', '--json'])).json<{ payments: object[] }>().payments.length;

interface History {
  watch_id: string;
  paid_amount: string;
  looks: object[];
}

test.each([0, 30, 60, 100, 150, 250, 400])('killed %i ms into its first look, it is paid once', async (afterMs) => {
  const before = await paymentsOf();
  const line = ['watch', 'LIS', 'BER', '--depart', '+30d', '--below', '20', '--every', '4h', '--yes'];
  await stopped(line, /Looking/, afterMs, 'SIGKILL');
  const resumed = await stopped(['watch', 'resume'], /Next look/, 0, 'SIGINT');
  expect(resumed).toMatchObject({ code: 130, text: expect.stringContaining('farelock watch resume wch_') });
  const { looks, paid_amount, watch_id } = (await tool.run(['watch', 'history', '--json'])).json<History>();
  expect(looks).toEqual([expect.objectContaining({ status: 'found', paid_amount: '0.10' })]);
  expect([paid_amount, (await paymentsOf()) - before]).toEqual(['0.10', 1]);
  await tool.run(['watch', 'end', watch_id]);
});
