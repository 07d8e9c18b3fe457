import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SEARCH } from '../homes.mjs';
import { post } from '../payer.mjs';

/** Commands, each a process of its own, in a home that knows an intent, a booking and a wallet's history. */
export function commandRows(stage) {
  const plain = (name, ...args) => ({ name, run: ({ env }) => stage.farelock(env, ...args, '--json') });
  const completing = (name, ...words) => ({
    name,
    run: ({ env }) => stage.farelock(env, 'complete', 'bash', '--', ...words, ''),
  });
  return [
    { name: 'status', run: ({ env, known }) => stage.farelock(env, 'status', known, '--json') },
    plain('intent list', 'intent', 'list'),
    plain('payments list', 'payments', 'list', '--limit', '3'),
    plain('payments list --chain', 'payments', 'list', '--chain', '--limit', '3'),
    plain('refund queue', 'refund', 'queue'),
    plain('stuck list', 'stuck', 'list'),
    plain('partner orders list', 'partner', 'orders', 'list'),
    plain('audit list', 'audit', 'list'),
    completing('completion of an intent', 'status'),
    completing('completion of a ramp order', 'partner', 'orders', 'show'),
    completing('completion of a refund request', 'refund', 'show'),
    { name: 'search', run: ({ env }) => stage.farelock(env, ...SEARCH) },
    {
      name: 'book --no-wait',
      prepare: ({ newIntent }) => newIntent(),
      run: ({ env, passengers }, intent) =>
        stage.farelock(env, 'book', intent, '--passengers', passengers, '--yes', '--no-wait', '--json'),
      after: ({ env }, intent) => stage.farelock(env, 'status', intent, '--watch', '--json'),
    },
  ];
}

/** Requests to a server on one of the databases, one at a time. */
export function requestRows(store) {
  const get = (name, path, headers = () => ({})) => ({
    name,
    run: async (server) =>
      checked(name, await post(server.flightsUrl + path(server), undefined, headers(server), 'GET')),
  });
  const operator = ({ operatorKey }) => ({ authorization: `Bearer ${operatorKey()}` });
  const partner = (name, body) => ({
    name,
    run: async (server) => {
      const url = `${server.flightsUrl}/farelock.core.v1.partner.Service/GetOrders`;
      const key = readFileSync(join(server.home, 'keys/partner-par_sandbox_bank.key'), 'utf8').trim();
      checked(name, await post(url, await body(server, url, key), { 'x-api-key': key }));
    },
  });
  return [
    // Made before the copy: only in the file.
    ...(store === 'libsql' ? [get('GET /air/intents/{id}', ({ known }) => `/air/intents/${known}`)] : []),
    partner('GetOrders, first page', () => ({ pageSize: 50 })),
    partner('GetOrders, by status', () => ({ pageSize: 50, status: 'AWAITING_FUNDS' })),
    {
      ...partner('GetOrders, a later page', () => ({})),
      prepare: async (server) => {
        const url = `${server.flightsUrl}/farelock.core.v1.partner.Service/GetOrders`;
        const key = readFileSync(join(server.home, 'keys/partner-par_sandbox_bank.key'), 'utf8').trim();
        const { text } = await post(url, { pageSize: 1 }, { 'x-api-key': key });
        return { url, key, pageToken: JSON.parse(text).nextPageToken };
      },
      run: async (_server, { url, key, pageToken }) =>
        checked('GetOrders', await post(url, { pageSize: 50, pageToken }, { 'x-api-key': key })),
    },
    get('refund queue', () => '/operator/refund-requests', operator),
    get('refund queue, stuck', () => '/operator/refund-requests?status=stuck', operator),
    get('refund queue, refunded by journey', () => '/operator/refund-requests?status=refunded&sort=journey', operator),
    get('stuck', () => '/operator/stuck', operator),
    get('attestations', () => '/operator/attestations', operator),
    {
      name: 'an affiliate',
      prepare: async (server) => {
        const { text } = await post(`${server.flightsUrl}/affiliates`, { wallet: server.payer.address });
        return JSON.parse(text).code;
      },
      run: async (server, code) =>
        checked('affiliates', await post(`${server.flightsUrl}/affiliates/${code}`, undefined, {}, 'GET')),
    },
    {
      name: 'a paid search',
      prepare: async ({ payer }) => payer.sign(await payer.challenges(1)),
      run: async ({ payer }, signed) => ({ ms: (await payer.pay(signed, 1)).latencies[0] }),
    },
  ];
}

function checked(name, { status, text }) {
  if (status !== 200 && status !== 201) throw new Error(`${name} was answered with ${status}: ${text.slice(0, 300)}`);
}
