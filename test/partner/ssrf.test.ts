import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { createGzip } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import type { ResolvedAddress, Resolver } from '../../src/partner/base/ports.ts';
import {
  checkPartnerUrl,
  EMBEDDED_PLATFORM_HOST,
  guardedRequest,
  isPublicAddress,
  outboundLimits,
  pinnedAddresses,
} from '../../src/partner/platforms/ssrf-guard.ts';
import { HOSTILE } from './hostile-urls.ts';

/** CONTRACT, section 13: where the service may be made to connect. */

function reasonOf(text: string, environment: 'demo' | 'live' = 'live'): unknown {
  try {
    return checkPartnerUrl(text, { environment }).kind;
  } catch (error) {
    if (!isProblem(error, 'partner_url_refused')) throw error;
    expect(error.message).not.toContain('127.0.0.1');
    return error.detail?.reason;
  }
}

describe('an address as it is written', () => {
  test.each(HOSTILE)('%s is refused, in demo and in live: %s', (text, reason) => {
    expect(reasonOf(text, 'live')).toBe(reason);
    expect(reasonOf(text, 'demo')).toBe(reason);
  });

  test.each([
    'https://platform.example.com',
    'https://platform.example.com:443/v1',
    'https://platform.example.com:8443/a/b',
    'https://PLATFORM.example.com',
    'https://xn--e1afmkfd.example.com',
    'https://8.8.8.8',
    'https://[2606:4700:4700::1111]',
    'https://[2606:4700:4700:0:0:0:0:1111]:8443',
  ])('%s may be called', (text) => {
    expect(reasonOf(text)).toBe('public');
  });

  test('a port that the operator opened is allowed', () => {
    const url = 'https://platform.example.com:9443';
    expect(reasonOf(url)).toBe('port');
    expect(checkPartnerUrl(url, { environment: 'live', extraPorts: [9443] }).kind).toBe('public');
  });

  test('http to loopback is for demo only, and only where the address says so plainly', () => {
    for (const url of ['http://127.0.0.1:8080/bank', 'http://localhost:8080', 'http://[::1]:8080']) {
      expect(reasonOf(url, 'demo')).toBe('loopback');
      expect(reasonOf(url, 'live')).toBe('scheme');
    }
    expect(reasonOf('http://127.0.0.1:22', 'demo')).toBe('port');
    expect(reasonOf('http://127.0.0.2:8080', 'demo')).toBe('scheme');
    expect(reasonOf('http://10.0.0.1:8080', 'demo')).toBe('scheme');
    expect(reasonOf('http://2130706433:8080', 'demo')).toBe('notation');
    expect(reasonOf('http://[::ffff:7f00:1]:8080', 'demo')).toBe('scheme');
  });

  test('the reserved host of the sandbox exists in demo only', () => {
    expect(reasonOf(`https://${EMBEDDED_PLATFORM_HOST}/bank`, 'demo')).toBe('embedded');
    expect(reasonOf(`https://${EMBEDDED_PLATFORM_HOST}/bank`, 'live')).toBe('reserved_host');
    expect(reasonOf(`https://${EMBEDDED_PLATFORM_HOST}:8443/bank`, 'demo')).toBe('reserved_host');
  });

  test('no number is taken for a host, whatever its base', () => {
    fc.assert(
      fc.property(fc.nat(0xffffffff), fc.constantFrom(8, 10, 16), (number, base) => {
        const text = `${base === 8 ? '0' : base === 16 ? '0x' : ''}${number.toString(base)}`;
        expect(['notation', 'not_a_url']).toContain(reasonOf(`https://${text}/`));
      }),
      { numRuns: 200 },
    );
  });

  test('an IPv4 address that is not public is not public inside an IPv6 address either', () => {
    fc.assert(
      fc.property(fc.nat(0xffff), fc.nat(0xffff), (high, low) => {
        const inside = `${high.toString(16)}:${low.toString(16)}`;
        for (const address of [`::ffff:${inside}`, `64:ff9b::${inside}`, `2002:${inside}::`, `::${inside}`])
          expect(isPublicAddress(address)).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe('an address as it resolves', () => {
  const guarded = checkPartnerUrl('https://platform.example.com', { environment: 'live' });
  const answering =
    (...addresses: string[]): Resolver =>
    async () =>
      addresses.map((address): ResolvedAddress => ({ address, family: address.includes(':') ? 6 : 4 }));

  test('one address that is not public refuses the host', async () => {
    for (const bad of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '168.63.129.16',
      '::1',
      '::ffff:8.8.8.8',
      'fe80::1%eth0',
    ]) {
      await expect(pinnedAddresses(guarded, answering('8.8.8.8', bad))).rejects.toMatchObject({
        code: 'partner_url_refused',
      });
    }
    await expect(pinnedAddresses(guarded, answering())).rejects.toMatchObject({ code: 'partner_url_refused' });
    expect(await pinnedAddresses(guarded, answering('8.8.8.8', '2606:4700::1111'))).toHaveLength(2);
  });

  test('localhost in demo must be loopback and nothing else', async () => {
    const local = checkPartnerUrl('http://localhost:8080', { environment: 'demo' });
    await expect(pinnedAddresses(local, answering('8.8.8.8'))).rejects.toMatchObject({ code: 'partner_url_refused' });
    expect(await pinnedAddresses(local, answering('127.0.0.1', '::1'))).toHaveLength(2);
  });
});

describe('the connection', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function listen(listener: RequestListener): Promise<number> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  const post = (base: string, options: { resolve?: Resolver; limits?: object; remainingMs?: number } = {}) => {
    const guarded = checkPartnerUrl(base, { environment: 'demo', extraPorts: [Number(new URL(base).port)] });
    return guardedRequest(
      {
        resolve: options.resolve ?? (async () => [{ address: '127.0.0.1', family: 4 }]),
        limits: { ...outboundLimits, ...options.limits },
      },
      guarded,
      { url: new URL(`${base}/create-order`), headers: { 'content-type': 'application/json' }, body: '{"a":1}' },
      options.remainingMs ?? 5_000,
    );
  };

  test('a name that turns to loopback after the check reaches nothing: the checked address is connected to', async () => {
    let inside = 0;
    const port = await listen((_request, response) => {
      inside++;
      response.end();
    });
    const asked: string[] = [];
    const attempt = await post(`https://rebind.example.com:${port}`, {
      // First a public address that nobody has, from then on this machine.
      resolve: async (name) => {
        asked.push(name);
        return asked.length === 1 ? [{ address: '2000::1', family: 6 }] : [{ address: '127.0.0.1', family: 4 }];
      },
      limits: { connectMs: 100 },
    });
    expect(attempt.kind).toBe('unsent');
    expect(asked).toEqual(['rebind.example.com']);
    expect(inside).toBe(0);
    await expect(post(`https://rebind.example.com:${port}`)).rejects.toMatchObject({ code: 'partner_url_refused' });
    expect(inside).toBe(0);
  });

  test('nobody is connected to but the address that was checked, whatever the name says', async () => {
    let connections = 0;
    const server = createTcpServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const attempt = await post(`http://localhost:${port}`, { resolve: async () => [{ address: '::1', family: 6 }] });
      expect(attempt.kind).toBe('unsent');
      expect(connections).toBe(0);
    } finally {
      server.close();
    }
  });

  test('demo reaches the real loopback, and the message arrives whole', async () => {
    const seen: string[] = [];
    const port = await listen((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString()));
      request.on('end', () => response.writeHead(200, { 'retry-after': '3' }).end('{"ok":true}'));
    });
    const attempt = await post(`http://127.0.0.1:${port}/bank`);
    expect(attempt).toMatchObject({ kind: 'answer', status: 200, retryAfter: '3' });
    expect(attempt.kind === 'answer' && Buffer.from(attempt.body).toString()).toBe('{"ok":true}');
    expect(seen.join('')).toBe('{"a":1}');
  });

  test('a redirect is handed back, never followed', async () => {
    let inside = 0;
    const target = await listen((_request, response) => {
      inside++;
      response.end();
    });
    const port = await listen((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${target}/` }).end(),
    );
    expect(await post(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'answer', status: 307 });
    expect(inside).toBe(0);
  });

  test('an answer past the limit is cut off: announced, chunked or packed', async () => {
    const bytes = 300 * 1024;
    const plain = await listen((_request, response) => response.end(Buffer.alloc(bytes)));
    const endless = await listen((_request, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(16 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    const bomb = await listen((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.end(Buffer.alloc(20 * 1024 * 1024));
    });
    for (const port of [plain, endless, bomb])
      expect(await post(`http://127.0.0.1:${port}`)).toEqual({ kind: 'oversized', status: 200 });
  });

  test('a packed answer within the limit is read', async () => {
    const port = await listen((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      const gzip = createGzip();
      gzip.pipe(response);
      gzip.end('{"ok":true}');
    });
    const attempt = await post(`http://127.0.0.1:${port}`);
    expect(attempt.kind === 'answer' && Buffer.from(attempt.body).toString()).toBe('{"ok":true}');
  });

  test('silence, a torn answer and a closed door are told apart: lost, lost, unsent', async () => {
    const silent = await listen(() => undefined);
    expect(await post(`http://127.0.0.1:${silent}`, { remainingMs: 150 })).toEqual({ kind: 'lost', reason: 'timeout' });
    const torn = await listen((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"externalOrderId"');
      setTimeout(() => response.socket?.destroy(), 10);
    });
    expect(await post(`http://127.0.0.1:${torn}`)).toMatchObject({ kind: 'lost' });
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    expect(await post(`http://127.0.0.1:${port}`)).toEqual({ kind: 'unsent', reason: 'ECONNREFUSED' });
  });

  test('an answer that drips is stopped by the time over all', async () => {
    const drip = await listen((_request, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect(await post(`http://127.0.0.1:${drip}`, { remainingMs: 200 })).toEqual({ kind: 'lost', reason: 'timeout' });
  });
});
