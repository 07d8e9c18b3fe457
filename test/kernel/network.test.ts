import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { overNetwork } from '../../src/kernel/network.ts';

async function served(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
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
  const chunk = Buffer.alloc(4 * 1024 * 1024);
  const url = await served((_request, response) => {
    const more = () => {
      while (response.write(chunk));
      response.once('drain', more);
    };
    more();
  });
  await expect(overNetwork()(get(url))).rejects.toMatchObject({ code: 'unexpected_answer' });
});
