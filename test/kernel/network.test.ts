import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { networkFailure, overNetwork } from '../../src/kernel/network.ts';

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
const get = (url: string) => ({ method: 'GET', url, headers: {}, body: '' });

test('sends what it is given, and gives what comes as plain values', async () => {
  const url = await served(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(201, { 'X-Key': request.headers['x-key'] ?? '' });
    response.end(`${request.method} ${Buffer.concat(chunks).toString()}`);
  });
  const answer = await overNetwork()({ method: 'POST', url, headers: { 'x-key': 'k' }, body: 'ü' });
  expect([answer.status, answer.headers['x-key'], answer.body]).toEqual([201, 'k', 'POST ü']);
});

test('a redirect is an answer, or followed, or refused', async () => {
  const url = await served((request, response) =>
    request.url === '/' ? response.writeHead(302, { Location: '/there' }).end() : response.end('there'),
  );
  const { status, headers } = await overNetwork()(get(url));
  expect([status, headers.location]).toEqual([302, '/there']);
  expect((await overNetwork('follow')(get(url))).body).toBe('there');
  await expect(overNetwork('error')(get(url))).rejects.toThrow();
});

test('an answer without end is cut off', async () => {
  const chunk = Buffer.alloc(256 * 1024);
  const url = await served((_request, response) => {
    const more = () => {
      while (response.write(chunk));
      response.once('drain', more);
    };
    more();
  });
  await expect(overNetwork('manual', 4_000_000)(get(url))).rejects.toMatchObject({ code: 'unexpected_answer' });
});

test('an answer may have as many bytes as it is told, unpacked', async () => {
  const url = await served((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000)));
  });
  expect((await overNetwork('manual', 1_000)(get(url))).body).toHaveLength(1_000);
  await expect(overNetwork('manual', 999)(get(url))).rejects.toMatchObject({ code: 'unexpected_answer' });
});

test('says of what failed whether it was ever sent', async () => {
  const failureOf = (url: string, more = {}) =>
    overNetwork()({ ...get(url), ...more }).then(() => null, networkFailure);
  const port = await closedPort();
  const refused = { kind: 'unsent', reason: 'ECONNREFUSED' };
  expect(await failureOf(`http://127.0.0.1:${port}/`)).toEqual(refused);
  // A name whose addresses of both families are tried.
  expect(await failureOf(`http://localhost:${port}/`)).toEqual(refused);
  expect(await failureOf('http://nobody.invalid/')).toMatchObject({ kind: 'unsent' });
  const dropping = await served((request) => request.socket.destroy());
  expect(await failureOf(dropping)).toMatchObject({ kind: 'lost' });
  const half = await served((_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  });
  expect(await failureOf(half)).toMatchObject({ kind: 'lost' });
  const silent = await served(() => undefined);
  const timeout = { signal: AbortSignal.timeout(50) };
  expect(await failureOf(silent, timeout)).toEqual({ kind: 'lost', reason: 'TimeoutError' });
});

test('no reason repeats what was sent', async () => {
  const secret = { headers: { authorization: 'Bearer se\ncret' } };
  const failure = await overNetwork()({ ...get('http://127.0.0.1:1/'), ...secret }).then(() => null, networkFailure);
  expect(failure).toEqual({ kind: 'lost', reason: 'TypeError' });
});
