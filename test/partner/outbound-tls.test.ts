import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { guardedRequest, outboundLimits } from '../../src/partner/platforms/ssrf-guard.ts';
import { selfSigned } from '../notify/self-signed.ts';

/** CONTRACT, section 13: the connection goes to the address that was checked, under the name that was asked for. */

const { key, cert } = selfSigned();
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(listener: RequestListener): Promise<number> {
  const server = createServer({ key, cert }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Over TLS to this machine, which only the guard's rules keep a partner from (ssrf.test.ts). */
const post = (hostname: string, port: number, ca: string | undefined = cert) => {
  const url = new URL(`https://${hostname}:${port}/create-order`);
  return guardedRequest(
    { resolve: async () => [{ address: '127.0.0.1', family: 4 }], limits: outboundLimits, ca },
    { kind: 'loopback', url, hostname },
    { url, headers: { 'content-type': 'application/json' }, body: '{"secret":1}' },
    5_000,
  );
};

test('the right name is taken: it is asked for in the handshake and in Host, and the message arrives', async () => {
  const seen: unknown[] = [];
  const port = await listen((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const { servername } = request.socket as typeof request.socket & { servername?: string };
      seen.push([servername, request.headers.host, text]);
      response.end('{"ok":true}');
    });
  });
  expect(await post('localhost', port)).toMatchObject({ kind: 'answer', status: 200 });
  expect(seen).toEqual([['localhost', `localhost:${port}`, '{"secret":1}']]);
});

test('a certificate for another name, or of nobody we trust, is refused before a word is sent', async () => {
  let requests = 0;
  const port = await listen((_request, response) => {
    requests++;
    response.end();
  });
  expect(await post('platform.example.com', port)).toEqual({ kind: 'unsent', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  expect(await post('localhost', port, selfSigned().cert)).toMatchObject({ kind: 'unsent' });
  expect(requests).toBe(0);
});

test('a redirect is handed back, never followed', async () => {
  let inside = 0;
  const target = await listen((_request, response) => {
    inside++;
    response.end();
  });
  for (const status of [301, 302, 307, 308]) {
    const port = await listen((_request, response) =>
      response.writeHead(status, { location: `https://localhost:${target}/` }).end(),
    );
    expect(await post('localhost', port)).toMatchObject({ kind: 'answer', status });
  }
  expect(inside).toBe(0);
});
