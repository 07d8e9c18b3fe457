import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type WebSockets, webSockets } from '../../src/cli/commands/serve/web-sockets.ts';
import type { Peer } from '../../src/solana/pubsub/index.ts';

/** Connections that are silent: the protocol alone, with less patience than `serve` has. */

const server = () => createServer(({ url: path }, response) => void setImmediate(() => response.end(`<${path}>`)));
let listening: ReturnType<typeof server>;
let sockets: WebSockets;
let url: string;
let subscribed = 0;
let ended = 0;
let peers: Peer[] = [];

const start = async (patience?: Parameters<typeof webSockets>[2]) => {
  [subscribed, ended, peers] = [0, 0, []];
  const line = {
    receive: async () => undefined,
    count: () => subscribed,
    end: () => {
      ended++;
    },
  };
  const pubSub = {
    connect(peer: Peer) {
      peers.push(peer);
      return line;
    },
    close: () => undefined,
  };
  const clientOf = ({ headers }: IncomingMessage) => String(headers['x-client'] ?? 'somebody');
  sockets = webSockets(async () => pubSub, clientOf, patience);
  listening = server();
  sockets.serve(listening);
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  url = `ws://127.0.0.1:${(listening.address() as AddressInfo).port}/rpc`;
};
const stop = async () => {
  await sockets.close();
  await new Promise((closed) => listening.close(closed));
};
beforeEach(() => start({ pingMs: 100, idleMs: 250 }));
afterEach(stop);

test('one that waits for nothing and says nothing is closed, with a code', async () => {
  const socket = new WebSocket(url);
  const [code] = (await once(socket, 'close')) as [number];
  expect(code).toBe(1001);
  await expect.poll(() => ended).toBe(1);
});

test('one that waits for something stays, as long as it answers', async () => {
  subscribed = 1;
  const socket = new WebSocket(url);
  await once(socket, 'open');
  await new Promise((wake) => setTimeout(wake, 700));
  expect(socket.readyState).toBe(WebSocket.OPEN);
});

test('one that shows no sign of life is cut off, whatever it waits for', async () => {
  subscribed = 1;
  const dead = connect(Number(new URL(url).port), '127.0.0.1');
  dead.write(
    'GET /rpc HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  dead.resume();
  await once(dead, 'close');
  await expect.poll(() => ended).toBe(1);
});

const H2C = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n';
const WISH = { none: '', h2c: H2C };
type Wish = keyof typeof WISH;

test.each<Wish[]>([
  ['h2c', 'none', 'none'],
  ['none', 'h2c', 'none'],
  ['none', 'none', 'h2c', 'h2c', 'none'],
])('requests that come together are all answered, in turn, whichever wish for HTTP/2: %s %s %s', async (...wishes) => {
  const got: string[] = [];
  const client = connect(Number(new URL(url).port), '127.0.0.1');
  client.on('data', (data) => got.push(String(data)));
  client.write(wishes.map((wish, n) => `GET /${n} HTTP/1.1\r\nhost: x\r\n${WISH[wish]}\r\n`).join(''));
  const answered = () => got.join('').match(/<[^>]*>/g) ?? [];
  await expect.poll(answered).toEqual(wishes.map((_wish, n) => `</${n}>`));
  client.destroy();
});

const open = async (client: string) => {
  // The types at hand are of an older version of ws.
  const socket = new WebSocket(url, { headers: { 'x-client': client } }) as WebSocket & { pause(): void };
  await once(socket, 'open');
  return socket;
};

test('readers that do not read are cut off before what waits for them fills the memory; the others hear', async () => {
  await stop();
  await start();
  subscribed = 1;
  for (let number = 0; number < 12; number++) (await open(`deaf ${number}`)).pause();
  const heard: number[] = [];
  (await open('attentive')).on('message', (data) => heard.push(String(data).length));
  const message = 'x'.repeat(13 * 1024 * 1024);
  for (const peer of peers) peer.send(message);
  // No more than five such messages wait at once; the kernel holds a part of each.
  await expect.poll(() => ended, { timeout: 30_000 }).toBeGreaterThanOrEqual(5);
  peers.at(-1)?.send('small');
  await expect.poll(() => heard.at(-1), { timeout: 30_000 }).toBe(5);
}, 60_000);

test('one client has a share of the places, and the others theirs', async () => {
  // As patient as serve: so many connections at once may be slow to answer.
  await stop();
  await start();
  subscribed = 1;
  await Promise.all(Array.from({ length: 250 }, () => open('greedy')));
  await expect(open('greedy')).rejects.toThrow('503');
  expect((await open('modest')).readyState).toBe(WebSocket.OPEN);
});
