import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';

/**
 * Many paid calls from one process, with the stock x402 client. The challenges, the signatures and the paid calls are
 * three rounds one after the other: what the client takes to sign does not stand between the calls that are timed.
 */

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export function post(url, body, headers = {}, method = 'POST') {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? '' : JSON.stringify(body);
    const sent = request(
      url,
      {
        method,
        agent,
        headers: {
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          'content-length': Buffer.byteLength(text),
          ...headers,
        },
      },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}

/** Does `work` on all, so many at a time. */
export async function atOnce(clients, all, work) {
  const done = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(clients, all.length) }, async () => {
      while (next < all.length) {
        const place = next++;
        done[place] = await work(all[place], place);
      }
    }),
  );
  return done;
}

export const searchBody = () => ({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  depart_date: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
  cheapest_per_itinerary: true,
  limit: 20,
});

/** A wallet with money on the cluster of a server, and paid calls from it. */
export async function openPayer({ flightsUrl, rpcUrl }, path = '/air/search') {
  const signer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(randomBytes(32)));
  const x402 = new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl }));
  x402.setSpendControls(false);
  const client = new x402HTTPClient(x402);
  const url = flightsUrl + path;

  const rpc = async (method, ...params) => {
    const { text } = await post(rpcUrl, { jsonrpc: '2.0', id: 1, method, params });
    const { result, error } = JSON.parse(text);
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  await rpc('requestAirdrop', signer.address, 1_000_000_000);
  await rpc('farelock_airdropUsdc', signer.address, 100_000_000_000);

  /** The first half of paid calls: what is asked, unpaid. */
  const challenges = (count, clients = 8, body = searchBody()) =>
    atOnce(clients, Array.from({ length: count }), async () => {
      const { status, headers, text } = await post(url, body);
      if (status !== 402) throw new Error(`${url} answered ${status}: ${text.slice(0, 300)}`);
      return client.getPaymentRequiredResponse((name) => headers[name.toLowerCase()], JSON.parse(text));
    });
  const sign = (required) =>
    atOnce(8, required, async (one) => client.encodePaymentSignatureHeader(await client.createPaymentPayload(one)));
  /** The second half: each call's time, and the time of all. */
  async function pay(signed, clients, body = searchBody()) {
    const began = performance.now();
    const latencies = await atOnce(clients, signed, async (headers) => {
      const sent = performance.now();
      const { status, text } = await post(url, body, headers);
      if (status !== 200) throw new Error(`a paid call was answered with ${status}: ${text.slice(0, 300)}`);
      return performance.now() - sent;
    });
    return { seconds: (performance.now() - began) / 1000, latencies };
  }

  /** One paid call of any path, and its answer. */
  async function call(path, body) {
    const asked = await post(flightsUrl + path, body);
    if (asked.status !== 402) throw new Error(`${path} answered ${asked.status}: ${asked.text.slice(0, 300)}`);
    const required = client.getPaymentRequiredResponse(
      (name) => asked.headers[name.toLowerCase()],
      JSON.parse(asked.text),
    );
    const headers = client.encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    const { status, text } = await post(flightsUrl + path, body, headers);
    if (status !== 200 && status !== 201) throw new Error(`${path} was answered with ${status}: ${text.slice(0, 300)}`);
    return JSON.parse(text);
  }
  const look = async (path) => JSON.parse((await post(flightsUrl + path, undefined, {}, 'GET')).text);

  return { address: signer.address, challenges, sign, pay, call, look, rpc };
}
