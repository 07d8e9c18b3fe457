import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BIN, farelockIn, PASSENGER, type Runner, type Served, serveIn } from '../e2e/farelock.ts';
import { closeTerminals, KEYS, openScreen } from './terminal.ts';

/** Ctrl-C between signing and the answer: the money is told as it is, and what was signed is sent again, never twice. */

let server: Runner;
let tool: Runner;
let served: Served;
let gate: Server;
/** Whether paid requests reach the service, and what becomes of their answers. */
const held: { kind: 'none' | 'request' | 'answer'; arrived(): void } = { kind: 'none', arrived: () => undefined };

beforeAll(async () => {
  server = farelockIn();
  served = await serveIn(server);
  gate = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const isPaid = incoming.headers['payment-signature'] !== undefined;
    const isHeld = isPaid && held.kind !== 'none';
    if (isHeld && held.kind === 'request') return held.arrived();
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    const method = incoming.method ?? 'GET';
    const answer = await fetch(`${served.flightsUrl}${incoming.url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    if (isHeld) return held.arrived();
    const kept = [...answer.headers].filter(([name]) => !/^(content|transfer)-encoding$/.test(name));
    outgoing.writeHead(answer.status, Object.fromEntries(kept)).end(body);
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
  const { port } = gate.address() as AddressInfo;
  tool = farelockIn({ FARELOCK_FLIGHTS_URL: `http://127.0.0.1:${port}`, FARELOCK_RPC_URL: served.rpcUrl });
  writeFileSync(join(tool.home, 'passengers.json'), JSON.stringify([PASSENGER]), { mode: 0o600 });
  await tool.run(['wallet', 'new']);
  expect((await tool.run(['wallet', 'airdrop'])).exitCode).toBe(0);
  await tool.run(['travellers', 'add', 'ana', join(tool.home, 'passengers.json')]);
});
afterAll(async () => {
  closeTerminals();
  gate?.closeAllConnections();
  gate?.close();
  await served?.stop();
  server?.close();
  tool?.close();
});

const spent = async (): Promise<number> => {
  const { payments } = (await tool.run(['payments', 'list', '--json'])).json<{
    payments: { amount: string; state: string }[];
  }>();
  return payments.reduce((sum, one) => sum + Number(one.amount), 0);
};

/** Runs a command on a terminal until its payment is signed and held, and presses Ctrl-C. */
async function cutOff(args: readonly string[], kind: 'request' | 'answer') {
  const screen = openScreen(args, { env: { ...tool.env, NO_COLOR: undefined }, cwd: tool.home, thenStty: true });
  await new Promise<void>((resolve) => Object.assign(held, { kind, arrived: resolve }));
  screen.type(KEYS.ctrlC);
  const code = await screen.ended();
  Object.assign(held, { kind: 'none', arrived: () => undefined });
  expect(screen.text()).toMatch(/stty: isig icanon echo$/);
  expect(screen.hasCursor()).toBe(true);
  // As one line: where it breaks depends on the ids.
  return { code, text: screen.text().replace(/\s+/g, ' ') };
}

const search = ['search', 'LIS', 'BER', '--depart', '+30d', '--all-fares', '--no-wait'];

test('a search, a lock and a booking that were signed and not answered', async () => {
  const searched = await cutOff(search, 'answer');
  expect(searched.code, searched.text).toBe(130);
  expect(searched.text).toMatch(
    /Interrupted\. A payment of 0\.10 USDC for the search was signed and may have been taken\./,
  );
  expect(searched.text).toMatch(/\$ farelock search LIS BER --depart \+30d[\s\S]*\$ farelock payments resume pay_\w+/);
  expect(await spent()).toBeCloseTo(0.1);
  // The same command sends the same payment: one that is not shown anywhere else is found, and nothing more is paid.
  const found = (await tool.run([...search, '--json'])).json<{
    offers: { offer_id: string; total_currency: string; total_amount_decimal: string }[];
  }>();
  expect(await spent()).toBeCloseTo(0.1);
  const offer = found.offers.find((one) => one.total_currency === 'USD' && Number(one.total_amount_decimal) >= 10);

  const lock = ['intent', 'create', offer?.offer_id ?? ''];
  const locked = await cutOff(lock, 'answer');
  expect(locked.code, locked.text).toBe(130);
  expect(locked.text).toMatch(/A payment of 0\.10 USDC for the lock was signed and may have been taken\./);
  expect(locked.text).not.toMatch(/SIGINT/);
  expect(locked.text).toMatch(/it sends that payment, never a second one/);
  const intent = (await tool.run([...lock, '--json'])).json<{ intent_id: string; escrow: { amount: number } }>();
  expect(await spent()).toBeCloseTo(0.2);

  const booked = await cutOff(['book', intent.intent_id, '--traveller', 'ana', '--yes'], 'request');
  expect(booked.code, booked.text).toBe(130);
  expect(booked.text).toMatch(
    /Interrupted\. A payment of [\d.]+ USDC into the escrow was signed and may have been taken\./,
  );
  expect(booked.text).toMatch(new RegExp(`\\$ farelock book ${intent.intent_id} --traveller ana`));
  const [, payment = ''] = /\$ farelock payments resume (pay_\w+)/.exec(booked.text) ?? [];
  const resumed = await cutOff(['payments', 'resume', payment], 'request');
  expect(resumed.text).toMatch(/into the escrow|for the escrow/);
  expect((await tool.run(['payments', 'resume', payment])).exitCode).toBe(0);
  const followed = await tool.run(['status', intent.intent_id, '--watch', '--json']);
  expect(followed.stdout).toContain('"status":"booked"');
  expect(await spent()).toBeCloseTo(0.2 + intent.escrow.amount / 1e6);
});

test('a call of a tool that is cut off is answered with where its money is, before the server goes', async () => {
  const child = spawn(process.execPath, [BIN, 'mcp', '--allow-spending', '1'], {
    env: { ...process.env, ...tool.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    written.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    written.stderr += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const arrived = new Promise<void>((resolve) => Object.assign(held, { kind: 'request', arrived: resolve }));
  const clientInfo = { name: 'test', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  const args = { from: 'LIS', to: 'OPO', depart: '+30d' };
  send({ id: 2, method: 'tools/call', params: { name: 'search', arguments: args } });
  await arrived;
  child.kill('SIGINT');
  expect(await ended, written.stderr).toBe(130);
  Object.assign(held, { kind: 'none', arrived: () => undefined });
  const answer = written.stdout.split('\n').find((line) => line.includes('"id":2')) ?? '';
  expect(answer, written.stdout).toMatch(/A payment of 0\.10 USDC for the search was signed and may have been taken/);
  expect(answer).toContain('farelock/exit-code":130');
  expect(written.stderr).toMatch(/Stopped in the middle of 1 call, answered with where the money is/);
});
