import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import WebSocket from 'ws';
import { type WebSockets, webSockets } from '../../src/cli/commands/serve/web-sockets.ts';

/** Connections that are silent: the protocol alone, with less patience than `serve` has. */

const server = () => createServer((_request, response) => response.end());
let listening: ReturnType<typeof server>;
let sockets: WebSockets;
let url: string;
let subscribed = 0;
let ended = 0;

beforeEach(async () => {
  [subscribed, ended] = [0, 0];
  const line = {
    receive: async () => undefined,
    count: () => subscribed,
    end: () => {
      ended++;
    },
  };
  const pubSub = { connect: () => line, close: () => undefined };
  sockets = webSockets(async () => pubSub, { pingMs: 100, idleMs: 250 });
  listening = server();
  sockets.serve(listening);
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  url = `ws://127.0.0.1:${(listening.address() as AddressInfo).port}/rpc`;
});
afterEach(async () => {
  await sockets.close();
  await new Promise((closed) => listening.close(closed));
});

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
