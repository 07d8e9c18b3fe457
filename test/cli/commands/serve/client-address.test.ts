import { expect, test } from 'vitest';
import { trustedProxies } from '../../../../src/cli/commands/serve/callers.ts';

/** Whose call it is behind a reverse proxy: throttling must see the client, and nobody may pose as another. */

const PROXIES = ['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7'];
const STRANGER = '198.51.100.9';

test.each([
  ['no proxy is believed that is not trusted', STRANGER, '203.0.113.5', STRANGER],
  ['the client is who the trusted proxy names', '10.1.2.3', '203.0.113.5', '203.0.113.5'],
  ['of several, the rightmost that is no trusted proxy', '10.1.2.3', '1.1.1.1, 203.0.113.5, 10.9.9.9', '203.0.113.5'],
  ['what the client wrote itself stands further left', '192.0.2.7', '8.8.8.8,203.0.113.5', '203.0.113.5'],
  ['without the header it is the proxy', '10.1.2.3', null, '10.1.2.3'],
  ['all trusted: the leftmost', '10.1.2.3', '10.7.7.7, 10.8.8.8', '10.7.7.7'],
  ['IPv4 in IPv6 is IPv4', '::ffff:10.1.2.3', '::ffff:203.0.113.5', '203.0.113.5'],
  ['IPv6, with brackets and a port', '2001:db8:1::5', '[2001:db8:2::9]:443', '2001:db8:2::9'],
  ['IPv4 with a port', '10.1.2.3', '203.0.113.5:51234', '203.0.113.5'],
  ['a zone is no part of it', '2001:db8:1::5%eth0', '203.0.113.5', '203.0.113.5'],
  ['rubbish ends the reading at the proxy that passed it on', '10.1.2.3', 'unknown, 10.4.4.4', '10.4.4.4'],
  ['what stands left of rubbish is not believed', '10.1.2.3', '8.8.8.8, unknown, 10.4.4.4', '10.4.4.4'],
  ['a short form is no address', '10.1.2.3', '1.2.3, 10.4.4.4', '10.4.4.4'],
  ['an empty header is none', '10.1.2.3', '', '10.1.2.3'],
])('%s', async (_rule, connection, header, client) => {
  const { clientOf } = await trustedProxies(PROXIES);
  expect(clientOf(connection, header)).toBe(client);
});

test('nobody is trusted unless it is said, and an unknown connection stays unknown', async () => {
  const nobody = await trustedProxies([]);
  expect(nobody.clientOf('127.0.0.1', '203.0.113.5')).toBe('127.0.0.1');
  expect(nobody.areAt('127.0.0.1')).toBe(false);
  const some = await trustedProxies(PROXIES);
  expect(some.clientOf(undefined, '203.0.113.5')).toBeUndefined();
  expect([some.areAt(undefined), some.areAt(STRANGER), some.areAt('::ffff:10.1.2.3')]).toEqual([false, false, true]);
});

test.each(['localhost', '10.0.0.0/40', '', '300.1.1.1'])('%s is no proxy', async (text) => {
  await expect(trustedProxies([text])).rejects.toMatchObject({ code: 'usage' });
});
