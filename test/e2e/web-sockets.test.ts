import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { proofTest } from '../proof-only.ts';
import { farelockIn, type Runner, type Served, serveIn } from './farelock.ts';

/** The WebSocket of `farelock serve`: its two ports, its limits, and its end. */

const ANY = { jsonrpc: '2.0', id: 1 } as const;
const SLOTS = JSON.stringify({ ...ANY, method: 'slotSubscribe' });
const wsOf = (url: string): string => url.replace(/^http/, 'ws');
const portOf = (url: string): number => Number(new URL(url).port);

async function open(url: string, options: object = {}): Promise<WebSocket> {
  const socket = new WebSocket(url, options);
  await once(socket, 'open');
  return socket;
}
async function refusedWith(url: string): Promise<string> {
  const socket = new WebSocket(url);
  const [error] = (await once(socket, 'error')) as [Error];
  return error.message;
}
const codeOf = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0];

const listen = async (port: number) => {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

async function freePortBeforeTaken() {
  for (;;) {
    const before = await listen(0);
    const { port } = before.address() as AddressInfo;
    const taken = await listen(port + 1).catch(() => null);
    await new Promise((closed) => before.close(closed));
    if (taken) return { taken, port };
  }
}

describe('over farelock serve', () => {
  let home: Runner;
  let served: Served;
  let url: string;
  beforeAll(async () => {
    home = farelockIn();
    served = await serveIn(home);
    url = wsOf(served.rpcUrl);
  });
  afterAll(async () => {
    await served.stop();
    home.close();
  });

  test('subscriptions are at /rpc of the port, and of the port after it, for pages of any origin', async () => {
    const next = new URL(url);
    next.port = String(portOf(served.rpcUrl) + 1);
    for (const address of [url, `${url}/`, `${url}?x=1`, next.href]) {
      const socket = await open(address, { origin: 'https://wallet.example' });
      socket.send(SLOTS);
      const [answer] = (await once(socket, 'message')) as [Buffer];
      expect(JSON.parse(String(answer))).toEqual({ ...ANY, result: expect.any(Number) });
      socket.close();
    }
    expect(await refusedWith(`${url}/more`)).toContain('404');
    expect(await refusedWith(url.replace('/rpc', '/'))).toContain('404');
    expect((await fetch(`http://127.0.0.1:${next.port}/rpc`)).status).toBe(426);
  });

  test('a message that is too large, or none of text, ends the connection with its code', async () => {
    const large = await open(url);
    large.send('x'.repeat(64 * 1024 + 1));
    expect(await codeOf(large)).toBe(1009);
    const binary = await open(url);
    binary.send(Buffer.from('{}'));
    expect(await codeOf(binary)).toBe(1008);
  });

  proofTest('a flood is answered message by message, and other clients have their turn in between', async () => {
    const socket = await open(url);
    const asked = 3_000;
    let answered = 0;
    socket.on('message', () => {
      answered++;
    });
    for (let count = 0; count < asked; count++) socket.send(JSON.stringify({ ...ANY, method: 'getSlot' }));
    expect((await fetch(`${served.flightsUrl}/health`)).status).toBe(200);
    // The question of another client has its turn before the flood is through.
    expect(answered).toBeLessThan(asked);
    await expect.poll(() => answered, { timeout: 30_000 }).toBe(asked);
    socket.close();
  });

  test('an upgrade to something else is passed over: Java asks for HTTP/2 with its first request', async () => {
    const upgrade = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' };
    const ask = async (method: string, path: string, body = '') => {
      const headers = { ...upgrade, 'content-type': 'application/json', 'content-length': String(body.length) };
      const outgoing = httpRequest(`${served.flightsUrl}${path}`, { method, headers });
      outgoing.end(body);
      const [incoming] = await once(outgoing, 'response');
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      return { status: incoming.statusCode as number, body: Buffer.concat(chunks).toString() };
    };
    expect((await ask('GET', '/health')).status).toBe(200);
    const posted = await ask('POST', '/rpc', JSON.stringify({ ...ANY, method: 'getHealth' }));
    expect(JSON.parse(posted.body)).toEqual({ ...ANY, result: 'ok' });
  });

  proofTest('a thousand connections are taken, one more is refused, and all of them are let go', async () => {
    // Each client has a share of them.
    const from = (client: number) => ({ localAddress: `127.0.0.${client}` });
    const many = await Promise.all(Array.from({ length: 1_000 }, (_, n) => open(url, from(10 + (n % 4)))));
    expect(await refusedWith(url)).toContain('503');
    for (const socket of many) socket.terminate();
    await expect
      .poll(async () => open(url).then((socket) => socket.terminate() ?? 'open', String), { timeout: 30_000 })
      .toBe('open');
  });

  proofTest('who does not read is cut off, and the others are told all the same', async () => {
    // The types at hand are of an older version of ws.
    const deaf = (await open(url)) as WebSocket & { pause(): void; resume(): void };
    deaf.pause();
    // Each answer repeats the id: much is sent to somebody who takes nothing.
    const question = JSON.stringify({ ...ANY, id: 'y'.repeat(60_000), method: 'getSlot' });
    const flood = setInterval(() => deaf.readyState === deaf.OPEN && deaf.send(question, () => undefined), 2);
    const gone = new Promise((resolve) => void deaf.once('close', resolve));
    deaf.on('error', () => undefined);
    const listening = await open(url);
    listening.send(SLOTS);
    await new Promise((wake) => setTimeout(wake, 4_000));
    clearInterval(flood);
    deaf.resume();
    await gone;
    const [message] = (await once(listening, 'message')) as [Buffer];
    expect(String(message)).toContain('slotNotification');
    listening.close();
  });
});

describe('farelock serve', () => {
  test('ends with whoever is subscribed: a goodbye, and exit 0', async () => {
    const home = farelockIn();
    const served = await serveIn(home);
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open(wsOf(served.rpcUrl))));
    for (const socket of sockets) socket.send(SLOTS);
    // One that never answers a goodbye.
    const deaf = connect(portOf(served.rpcUrl) + 1, '127.0.0.1');
    deaf.write(
      'GET /rpc HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await once(deaf, 'data');
    const codes = Promise.all(sockets.map(codeOf));
    const stopped = served.stop();
    expect(new Set(await codes)).toEqual(new Set([1001]));
    expect(await stopped).toBe(0);
    deaf.destroy();
    home.close();
  });

  proofTest('goes on where the port after its own is taken, and says so', async () => {
    const home = farelockIn();
    const { taken, port } = await freePortBeforeTaken();
    const served = await serveIn(home, ['--port', String(port)]);
    expect(portOf(served.rpcUrl)).toBe(port);
    expect(served.log()).toMatch(new RegExp(`Port ${port + 1} .*in use.*web3\\.js.*ws://127\\.0\\.0\\.1:${port}/rpc`));
    const socket = await open(wsOf(served.rpcUrl));
    socket.terminate();
    expect(await served.stop()).toBe(0);
    taken.close();
    home.close();
  });
});
