import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpServer } from '../../../../src/cli/commands/serve/index.ts';
import { HttpResponse, readBody } from '../../../../src/kernel/http.ts';

/** The server's patience, in a short form: an idle connection may stay far longer than a request may take. */

const server = httpServer(
  async ({ url, body }) => {
    await readBody(body, 1_000);
    if (new URL(url).pathname === '/slow') await new Promise((ready) => setTimeout(ready, 900));
    return new HttpResponse(200, 'ok');
  },
  undefined,
  { headersTimeout: 200, requestTimeout: 400, connectionsCheckingInterval: 50 },
);
let port = 0;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** What is heard until the server closes, from a sender of one more text each 20 ms. */
async function heard(first: string, drop: string): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1');
  socket.write(first);
  const drops = setInterval(() => drop && socket.write(drop), 20);
  let all = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    all += String(chunk);
  });
  await once(socket, 'close').finally(() => clearInterval(drops));
  return all;
}

test.each([
  ['sends nothing', '', ''],
  ['sends half a header', 'GET / HTTP/1.1\r\nHost: shop.test\r\nX-Half', ''],
  ['sends headers without an end', 'GET / HTTP/1.1\r\nHost: shop.test\r\n', 'X-A: 1\r\n'],
  ['sends a body drop by drop', 'POST / HTTP/1.1\r\nHost: shop.test\r\nContent-Length: 900\r\n\r\n', 'x'],
])('a connection that %s is closed', async (_name, first, drop) => {
  expect(await heard(first, drop)).toMatch(/^(HTTP\/1\.1 408 Request Timeout\r\n|$)/);
});

test('an answer may take longer, and its connection be idle longer, than a request may take to come', async () => {
  const socket = connect(port, '127.0.0.1');
  let all = '';
  socket.on('data', (chunk) => {
    all += String(chunk);
  });
  socket.write('GET /slow HTTP/1.1\r\nHost: shop.test\r\n\r\n');
  await expect.poll(() => all, { timeout: 5_000 }).toContain('ok');
  await new Promise((passed) => setTimeout(passed, 700));
  all = '';
  socket.write('GET / HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n');
  await once(socket, 'close');
  expect(all).toContain('HTTP/1.1 200');
});
