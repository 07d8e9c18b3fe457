// Loads a server with paid searches: each of its clients asks, signs the challenge and pays, again and again. Prints
// paid calls a second, how long one took, and the server's own time for each.
// node paid-load.mjs <flights_url> <rpc_url> <pid> <clients> <seconds>
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import {
  AccountRole,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  getTransactionEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';

const [flightsUrl, rpcUrl, pid, clients, seconds] = process.argv.slice(2);
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ATA = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
const MEMO = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
const BUDGET = 'ComputeBudget111111111111111111111111111111';

const agent = new Agent({ keepAlive: true });
const post = (url, body, headers = {}) =>
  new Promise((resolve, reject) => {
    const asked = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
        answer.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
let rpcId = 0;
const rpc = async (method, params) => {
  const { text } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: ++rpcId, method, params }));
  const { result, error } = JSON.parse(text);
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
};

const encoder = getAddressEncoder();
const known = new Map();
const vault = async (owner) => {
  if (!known.has(owner)) {
    const [address] = await getProgramDerivedAddress({
      programAddress: ATA,
      seeds: [owner, TOKEN, USDC].map((one) => encoder.encode(one)),
    });
    known.set(owner, address);
  }
  return known.get(owner);
};

function newWallet() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    address: getAddressDecoder().decode(raw),
    key: createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  };
}

const compute = (tag, bytes, value) => {
  const data = Buffer.alloc(1 + bytes);
  data[0] = tag;
  if (bytes === 4) data.writeUInt32LE(value, 1);
  else data.writeBigUInt64LE(BigInt(value), 1);
  return { programAddress: BUDGET, data };
};

async function payment(wallet, required, lifetime) {
  const [accepted] = required.accepts;
  const { extra, payTo, amount } = accepted;
  const transfer = Buffer.alloc(10);
  transfer[0] = 12;
  transfer.writeBigUInt64LE(BigInt(amount), 1);
  transfer[9] = 6;
  const message = appendTransactionMessageInstructions(
    [
      compute(2, 4, 20_000),
      compute(3, 8, 1),
      {
        programAddress: TOKEN,
        accounts: [
          { address: await vault(wallet.address), role: AccountRole.WRITABLE },
          { address: USDC, role: AccountRole.READONLY },
          { address: await vault(payTo), role: AccountRole.WRITABLE },
          { address: wallet.address, role: AccountRole.READONLY_SIGNER },
        ],
        data: transfer,
      },
      { programAddress: MEMO, data: Buffer.from(extra.memo ?? Math.random().toString(16)) },
    ],
    setTransactionMessageLifetimeUsingBlockhash(
      lifetime,
      setTransactionMessageFeePayer(extra.feePayer, createTransactionMessage({ version: 0 })),
    ),
  );
  const compiled = compileTransaction(message);
  const signatures = {
    ...compiled.signatures,
    [wallet.address]: sign(null, compiled.messageBytes, wallet.key),
  };
  const transaction = Buffer.from(getTransactionEncoder().encode({ ...compiled, signatures })).toString(
    'base64',
  );
  return Buffer.from(
    JSON.stringify({ x402Version: 2, resource: required.resource, accepted, payload: { transaction } }),
  ).toString('base64');
}

let lifetime;
const renew = async () => {
  const { value } = await rpc('getLatestBlockhash', [{ commitment: 'confirmed' }]);
  lifetime = { blockhash: value.blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) };
};
await renew();
const renewing = setInterval(() => renew().catch(() => undefined), 5_000);

const wallets = Array.from({ length: Number(clients) }, newWallet);
for (const { address } of wallets) await rpc('farelock_airdropUsdc', [address, 90_000_000_000]);

const body = JSON.stringify({
  origin_iata: 'LIS',
  destination_iata: 'BER',
  depart_date: new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10),
  cheapest_per_itinerary: true,
  limit: 20,
});
const url = `${flightsUrl}/air/search`;
const refused = new Map();
async function paidSearch(wallet) {
  const challenge = await post(url, body);
  if (challenge.status !== 402) throw new Error(`${challenge.status}: ${challenge.text}`);
  const required = JSON.parse(Buffer.from(challenge.headers['payment-required'], 'base64').toString());
  const header = await payment(wallet, required, lifetime);
  for (;;) {
    const answer = await post(url, body, { 'payment-signature': header });
    if (answer.status === 200) return;
    const why = `${answer.status} ${answer.text.slice(0, 120)}`;
    refused.set(why, (refused.get(why) ?? 0) + 1);
    if (answer.status !== 503 && answer.status !== 202) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const cpuMs = () => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const took = [];
const during = async (ms, note) => {
  const untilMs = performance.now() + ms;
  await Promise.all(
    wallets.map(async (wallet) => {
      while (performance.now() < untilMs) {
        const begun = performance.now();
        await paidSearch(wallet);
        note?.push(performance.now() - begun);
      }
    }),
  );
};
await during(2_000);
refused.clear();
const [cpuBefore, begun] = [cpuMs(), performance.now()];
await during(Number(seconds) * 1000, took);
const [cpu, ms] = [cpuMs() - cpuBefore, performance.now() - begun];
clearInterval(renewing);
took.sort((a, b) => a - b);
const at = (share) => Math.round(took[Math.min(took.length - 1, Math.floor(took.length * share))]);
process.stdout.write(
  `${JSON.stringify({
    clients: Number(clients),
    paid: took.length,
    per_second: Number(((took.length * 1000) / ms).toFixed(1)),
    server_cpu_ms: Number((cpu / took.length).toFixed(2)),
    p50: at(0.5),
    p95: at(0.95),
    longest: at(1),
    refused: Object.fromEntries(refused),
  })}\n`,
);
agent.destroy();
