import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { getAddressEncoder } from '@solana/kit';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/index.ts';
import { isHere } from '../../needs.mjs';
import { keyOf, NETWORK, openStage, type Stage, seedOf } from './stage.ts';

/** The lines of docs/auth-capture-svm.md, each in a process of its own, by the built package. */

const ROOT = resolve(import.meta.dirname, '../../..');
const built = isHere('the built auth-capture', existsSync(join(ROOT, 'dist/auth-capture.mjs')));

const page = readFileSync(join(ROOT, 'docs/auth-capture-svm.md'), 'utf8');
const linesOf = (name: string): string => {
  const found = page.match(new RegExp(`^\`\`\`js ${name}\\n([\\s\\S]*?)^\`\`\``, 'm'))?.[1];
  if (found === undefined) throw new Error(`the page has no lines of a ${name}`);
  return found;
};

/** What a reader has around the lines: a listener, which says where it is. */
const LISTENS = `
import { createServer } from 'node:http';
const bodyOf = async (request) => { let text = ''; for await (const chunk of request) text += chunk; return text; };
const listen = (handle) => {
  const http = createServer((request, response) => handle(request, response).catch((error) => response.writeHead(500).end(String(error))));
  http.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + http.address().port));
};
`;
const FACILITATES = `
listen(async (request, response) => {
  if (request.url === '/supported') return response.end(JSON.stringify(facilitator.getSupported()));
  const { paymentPayload, paymentRequirements } = JSON.parse(await bodyOf(request));
  const ask = request.url === '/verify' ? 'verify' : 'settle';
  response.end(JSON.stringify(await facilitator[ask](paymentPayload, paymentRequirements)));
});
`;
const SELLS = `
import { x402HTTPResourceServer } from '@x402/core/http';
const stock = new x402HTTPResourceServer(server, { 'GET /report': { accepts } });
await stock.initialize();
listen(async (request, response) => {
  const adapter = {
    getHeader: (name) => request.headers[name.toLowerCase()], getMethod: () => request.method, getPath: () => request.url,
    getUrl: () => 'http://' + request.headers.host + request.url, getAcceptHeader: () => '', getUserAgent: () => '',
  };
  const context = { adapter, path: request.url, method: request.method };
  const asked = await stock.processHTTPRequest(context);
  if (asked.type === 'payment-error')
    return response.writeHead(asked.response.status, asked.response.headers).end(JSON.stringify(asked.response.body ?? {}));
  const transport = { request: context, responseHeaders: { 'Settlement-Overrides': '{"amount":"40000"}' } };
  const { paymentPayload, paymentRequirements, declaredExtensions, beforeHandlerSettlement } = asked;
  const settled = await stock.processSettlement(
    paymentPayload, paymentRequirements, declaredExtensions, transport, undefined, beforeHandlerSettlement);
  response.writeHead(settled.success ? 200 : 402, settled.headers).end(JSON.stringify({ done: true }));
});
`;

describe.runIf(built)('the lines of the page', () => {
  let stage: Stage;
  const folder = mkdtempSync(join(tmpdir(), 'farelock-auth-capture-page-'));
  const running: ChildProcess[] = [];
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(async () => {
    for (const one of running) one.kill();
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const keyFile = (name: string): string => {
    const path = join(folder, `${name.replace(' ', '-')}.json`);
    const bytes = [...seedOf(name), ...getAddressEncoder().encode(keyOf(name).address)];
    writeFileSync(path, JSON.stringify(bytes), { mode: 0o600 });
    return path;
  };

  const env = () => ({
    ...{
      PATH: process.env.PATH,
      // A clock that is moved for the tests is moved for these processes.
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => /^(NODE_OPTIONS|TEST_CLOCK_\w+)$/.test(name)),
      ),
      NETWORK,
      PROGRAM: ESCROW_PROGRAM_ID,
      RPC_URL: stage.rpc.url,
      PAY_TO: keyOf('shop').address,
    },
    ...{ FEE_PAYER: keyFile('fee payer'), AUTHORIZER: keyFile('authorizer') },
  });

  async function started(lines: string, more: Record<string, string> = {}): Promise<string> {
    const child = spawn(process.execPath, ['--input-type=module'], { cwd: ROOT, env: { ...env(), ...more } });
    running.push(child);
    child.stdin.end(lines);
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    return new Promise((done, fail) => {
      child.stdout.once('data', (chunk) => done(`${chunk}`.trim()));
      child.once('exit', () => fail(new Error(errors)));
    });
  }

  test('a client pays a server by a facilitator: 0.04 of 0.15 captured, the rest is back', async () => {
    const facilitator = await started(linesOf('facilitator') + LISTENS + FACILITATES);
    const shop = await started(linesOf('server') + LISTENS + SELLS, { FACILITATOR: facilitator });
    const wallet = keyOf('reader');
    await stage.cluster.airdropUsdc(wallet.address, 1_000_000n);
    const paid = await execa(process.execPath, ['--input-type=module'], {
      ...{ cwd: ROOT, input: linesOf('client'), extendEnv: false },
      env: { ...env(), KEYPAIR: keyFile('reader'), SHOP: `${shop}/report` } as Record<string, string>,
    });
    expect(paid.stdout).toBe('200 40000');
    expect(await stage.usdc(wallet)).toBe(960_000n);
    expect(await stage.usdc(keyOf('shop'))).toBe(40_000n);
  });

  test('its lines are about ten each', () => {
    for (const name of ['client', 'server']) expect(linesOf(name).trim().split('\n').length).toBeLessThanOrEqual(12);
  });
});
