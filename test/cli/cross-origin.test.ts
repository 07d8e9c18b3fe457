import { describe, expect, test } from 'vitest';
import { crossOrigin } from '../../src/cli/commands/serve/callers.ts';
import { HttpResponse } from '../../src/kernel/http.ts';

/** Which calls a page of another origin may make, and what of the answers it may read. */

const ORIGIN = { origin: 'https://wallet.example' };
const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  crossOrigin(
    { method, url: `http://farelock.test${path}`, headers: { ...ORIGIN, ...headers }, body: '' },
    async () => new HttpResponse(402, '{}', { 'PAYMENT-REQUIRED': 'x' }),
  );
const preflight = (path: string, headers: Record<string, string> = {}) =>
  ask('OPTIONS', path, { 'access-control-request-method': 'POST', ...headers });
const listed = (header: string | undefined) => (header ?? '').split(', ');

describe('a page of another origin', () => {
  test.each(['/rpc', '/rpc/'])('may call %s with the headers of web3.js and kit', async (path) => {
    const { status, headers } = await preflight(path);
    expect([status, headers['access-control-allow-origin'], headers['access-control-max-age']]).toEqual([
      204,
      '*',
      '86400',
    ]);
    expect(listed(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining(['content-type', 'solana-client']),
    );
    expect(listed(headers['access-control-allow-methods'])).toEqual(['POST', 'OPTIONS']);
  });

  test('may pay: it sends the signature, and reads the challenge and the receipt', async () => {
    const { headers } = await preflight('/air/search', {
      'access-control-request-headers': 'content-type,payment-signature,access-control-expose-headers',
    });
    expect(listed(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining([
        ...['content-type', 'payment-signature', 'access-control-expose-headers'],
        ...['authorization', 'accept-payment', 'prefer'],
      ]),
    );
    const answer = await ask('POST', '/air/search');
    expect([answer.status, answer.headers['payment-required']]).toEqual([402, 'x']);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(listed(answer.headers['access-control-expose-headers'])).toEqual(
      expect.arrayContaining([
        ...['payment-required', 'payment-response', 'www-authenticate', 'payment-receipt', 'retry-after'],
      ]),
    );
  });

  test('of this machine may use /mcp with the headers of the protocol; /mcp itself refuses others', async () => {
    const { headers } = await preflight('/mcp');
    expect(listed(headers['access-control-allow-headers'])).toEqual(
      expect.arrayContaining(['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']),
    );
    expect(listed(headers['access-control-allow-methods'])).toEqual(['POST', 'OPTIONS']);
  });

  test.each(['/air/orders/ord_1', '/health', '/openapi.json', '/farelock.core.v1.customer.Service/GetOrder'])(
    'may read %s',
    async (path) => expect((await ask('GET', path)).headers).toHaveProperty('access-control-allow-origin', '*'),
  );

  test.each([
    '/operator',
    '/operator/refunds',
    '/operator/partners/x',
    '/farelock.core.v1.partner.Service/UpdateOrder',
  ])('may neither call nor read %s', async (path) => {
    for (const { status, headers } of [await preflight(path), await ask('POST', path)]) {
      expect(status).toBe(402);
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  test('never comes with credentials', async () => {
    for (const { headers } of [await preflight('/rpc'), await ask('POST', '/air/search')])
      expect(headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('of the internet may call a service on this machine', async () => {
    const asked = { 'access-control-request-private-network': 'true' };
    expect((await preflight('/rpc', asked)).headers['access-control-allow-private-network']).toBe('true');
    expect((await preflight('/rpc')).headers).not.toHaveProperty('access-control-allow-private-network');
  });
});
