// The peer of the benchmark: the same paid search with the stock x402 client, as its documentation would write it.
// node stock-client.mjs <flights_url> <rpc_url> <keypair file> <depart date>
import { readFileSync } from 'node:fs';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';

const [flightsUrl, rpcUrl, keypairFile, departDate] = process.argv.slice(2);
const signer = await createKeyPairSignerFromBytes(Uint8Array.from(JSON.parse(readFileSync(keypairFile, 'utf8'))));
const x402 = new x402HTTPClient(new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl })));
const url = `${flightsUrl}/air/search`;
const body = JSON.stringify({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  depart_date: departDate,
  cheapest_per_itinerary: true,
  limit: 20,
});
const post = (headers) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

const challenge = await post({});
const required = x402.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
const payload = await x402.createPaymentPayload(required);
const answer = await post(x402.encodePaymentSignatureHeader(payload));
process.stdout.write(`${JSON.stringify(await answer.json())}\n`);
process.exit(answer.ok ? 0 : 1);
