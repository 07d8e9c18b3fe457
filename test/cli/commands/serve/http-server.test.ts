import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { httpServer } from '../../../../src/cli/commands/serve/index.ts';
import { type HttpRequest, HttpResponse, readBody } from '../../../../src/kernel/http.ts';

/** The server by itself, asked over bare sockets. */

const MOST_BYTES = 1_000;
const seen: HttpRequest[] = [];
const read: (number | null | string)[] = [];

const server = httpServer(async (request) => {
  seen.push(request);
  const { pathname } = new URL(request.url);
  if (pathname === '/broken') throw new Error('not loaded');
  if (pathname === '/torn') return new HttpResponse(200, 'ab', { 'content-length': '4' });
  if (pathname === '/unread') return new HttpResponse(404, 'no');
  if (pathname === '/late') await sleep(100);
  const bytes = await readBody(request.body, MOST_BYTES).catch(() => 'lost');
  read.push(typeof bytes === 'string' || bytes === null ? bytes : bytes.length);
  return new HttpResponse(bytes === null ? 413 : 200, request.method === 'HEAD' ? null : 'ok', { B: '1', a: '2' });
});
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

function opened(text: string): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return socket;
}
/** Everything that comes until the connection is closed. */
async function heard(text: string): Promise<string> {
  let all = '';
  for await (const chunk of opened(text)) all += String(chunk);
  return all;
}
const head = (method: string, path: string, more = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: shop.test\r\n${more}\r\n`;
const post = (path: string, length: number, more = '') =>
  head('POST', path, `Content-Length: ${length}\r\n${more}`) + 'x'.repeat(length);
const CLOSE = 'Connection: close\r\n';

test('headers are one by name, joined where they come twice, and go out by name with the length', async () => {
  const answer = await heard(
    head('GET', '/a?b=c', `X-Two: 1\r\nx-two: 2\r\nAuthorization: a\r\nAuthorization: b\r\n${CLOSE}`),
  );
  expect(seen.at(-1)).toMatchObject({
    method: 'GET',
    url: 'http://shop.test/a?b=c',
    headers: { 'x-two': '1, 2', authorization: 'a, b' },
  });
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\na: 2\r\nb: 1\r\ncontent-length: 2\r\n.*\r\n\r\nok$/s);
  const bare = await heard(head('HEAD', '/', CLOSE));
  expect(bare).toMatch(/\r\n\r\n$/);
  expect(bare).not.toContain('content-length');
});

test('what has no address is 400, a service that fails 500, and a torn answer stays torn', async () => {
  const status = async (text: string) => Number((await heard(text)).slice(9, 12));
  for (const path of ['/a\\b', '*', 'ftp://x/'])
    expect([path, await status(head('GET', path, CLOSE))]).toEqual([path, 400]);
  expect(await status(`GET / HTTP/1.1\r\nHost: a@b\r\n${CLOSE}\r\n`)).toBe(400);
  expect(await status(head('GET', 'http://other.test/', CLOSE))).toBe(200);
  expect(await status(head('GET', '/broken', CLOSE))).toBe(500);
  expect(await heard(head('GET', '/torn', CLOSE))).toMatch(/content-length: 4\r\n.*\r\n\r\nab$/s);
});

test('a body that is too large, or not wanted, does not keep the next request from its answer', async () => {
  for (const path of ['/', '/unread']) {
    const both = await heard(post(path, 200_000) + head('GET', '/next', CLOSE));
    expect([...both.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))).toEqual([
      path === '/' ? 413 : 404,
      200,
    ]);
  }
});

test('a body without end is answered, and its connection ended', async () => {
  const socket = opened(head('POST', '/', 'Transfer-Encoding: chunked\r\n'));
  socket.on('error', () => undefined);
  const feeding = setInterval(() => socket.write(`400\r\n${'x'.repeat(0x400)}\r\n`), 5);
  let all = '';
  socket.on('data', (chunk) => {
    all += String(chunk);
  });
  await once(socket, 'close');
  clearInterval(feeding);
  expect(all).toMatch(/^HTTP\/1\.1 413 /);
});

test('a request whose sender has left is whole when all of it had come, and lost when not', async () => {
  for (const [text, expected] of [
    [post('/late', 500), 500],
    [head('POST', '/late', 'Content-Length: 500\r\n') + 'x'.repeat(100), 'lost'],
  ] as const) {
    const before = read.length;
    const socket = opened(text);
    await sleep(40);
    socket.destroy();
    await expect.poll(() => read.length).toBe(before + 1);
    expect(read.at(-1)).toBe(expected);
    expect(seen.at(-1)?.signal?.aborted).toBe(true);
  }
});

test('an idle connection stays open for longer than a balancer keeps it', async () => {
  const socket = opened(head('GET', '/kept'));
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const [, seconds = '0'] = /Keep-Alive: timeout=(\d+)/i.exec(String(chunk)) ?? [];
  expect(Number(seconds)).toBeGreaterThan(60);
});
