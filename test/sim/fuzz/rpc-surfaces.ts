import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getTransferSolInstruction } from '@solana-program/system';
import { DEVNET_USDC } from '../../../src/solana/cluster.ts';
import { openEmbeddedCluster } from '../../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../../src/solana/json-rpc/index.ts';
import { createPubSub } from '../../../src/solana/pubsub/index.ts';
import { signerFromSeed } from '../../../src/solana/signer.ts';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import { clockFrom, WORLD_STARTS_MS } from '../../clock.ts';
import type { Mutator } from './mutator.ts';
import type { OpenSurface } from './surface.ts';

/** The embedded cluster: calls as wallets send them, and subscriptions, each with something wrong. */

const SOL = 1_000_000_000n;
const INTERNAL_ERROR = -32603;

type Call = readonly [string, ...unknown[]];

async function openLedger() {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-fuzz-'));
  const cluster = await openEmbeddedCluster({ path: join(folder, 'ledger.db'), clock: clockFrom(WORLD_STARTS_MS) });
  const [alice, bob] = [61, 62].map((byte) => signerFromSeed(new Uint8Array(32).fill(byte)));
  if (!alice || !bob) throw new Error('nobody is there');
  await cluster.airdropSol(alice.address, 10n * SOL);
  await cluster.airdropUsdc(alice.address, 5_000_000n);
  const transfer = getTransferSolInstruction({ source: alice, destination: bob.address, amount: SOL });
  const blockhash = await cluster.latestBlockhash();
  const { wire, signature } = buildTransaction({ feePayer: alice, instructions: [transfer], blockhash });
  await cluster.send(wire);
  const faults: string[] = [];
  return {
    cluster,
    known: {
      ...{ alice: alice.address, bob: bob.address, mint: DEVNET_USDC, wire, signature },
      account: await associatedTokenAddress(alice.address, DEVNET_USDC),
      blockhash: blockhash.blockhash,
    },
    faults,
    log: (_level: string, event: string, fields?: object) => {
      if (event.endsWith('_failed')) faults.push(`${event} ${JSON.stringify(fields)}`);
    },
    async close() {
      await cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
type Known = Awaited<ReturnType<typeof openLedger>>['known'];

const callsOf = ({ alice, bob, mint, wire, signature, account, blockhash }: Known): readonly Call[] => {
  const base64 = { encoding: 'base64' };
  const parsed = { encoding: 'jsonParsed', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  return [
    ...([['getHealth'], ['getVersion'], ['getSlot', {}], ['getBlockHeight'], ['getEpochInfo']] as const),
    ...([['getGenesisHash'], ['getSupply'], ['getLargestAccounts', {}], ['getClusterNodes']] as const),
    ['getAccountInfo', alice, { ...base64, dataSlice: { offset: 0, length: 8 } }],
    ['getMultipleAccounts', [alice, bob, mint, account], parsed],
    ['getBalance', alice, { commitment: 'finalized', minContextSlot: 1 }],
    ['getMinimumBalanceForRentExemption', 165],
    ['getTokenAccountBalance', account],
    ['getTokenSupply', mint],
    ['getTokenLargestAccounts', mint],
    ['getTokenAccountsByOwner', alice, { mint }, parsed],
    ['getTokenAccountsByDelegate', alice, { programId: TOKEN_PROGRAM }, parsed],
    [
      'getProgramAccounts',
      TOKEN_PROGRAM,
      { ...base64, filters: [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: alice } }] },
    ],
    ['getBlock', 3, { ...parsed, transactionDetails: 'full', rewards: false }],
    ['getBlocks', 0, 5],
    ['getBlocksWithLimit', 0, 5],
    ['getBlockTime', 2],
    ['getBlockProduction', { range: { firstSlot: 0, lastSlot: 5 } }],
    ['getRecentPerformanceSamples', 3],
    ['getLatestBlockhash', { commitment: 'processed' }],
    ['isBlockhashValid', blockhash],
    ['getFeeForMessage', 'AQABAgIAAAA='],
    ['getRecentPrioritizationFees', [alice]],
    ['getSignaturesForAddress', alice, { limit: 5, before: signature, until: signature }],
    ['getSignatureStatuses', [signature], { searchTransactionHistory: true }],
    ['getTransaction', signature, parsed],
    ['sendTransaction', wire, { ...base64, skipPreflight: true, maxRetries: 0 }],
    [
      'simulateTransaction',
      wire,
      {
        ...base64,
        sigVerify: false,
        replaceRecentBlockhash: true,
        accounts: { encoding: 'base64', addresses: [alice] },
      },
    ],
    ['getSlotLeaders', 1, 3],
    ['getLeaderSchedule', null, { identity: alice }],
    ['getInflationReward', [alice], { epoch: 0 }],
  ];
};

const METHODS = ['POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE'];
const WHOLE = ['', '[]', '{}', 'null', '[[]]', '[1,2]', '{"jsonrpc":"2.0"}', '{"method":1}'];

/** A request, or a batch of them, with something wrong in it. */
function brokenText(mutator: Mutator, calls: readonly Call[]): string {
  const { chance, upTo, oneOf, json, jsonText, text } = mutator;
  const written = () => {
    const [method, ...params] = oneOf(calls);
    return { jsonrpc: '2.0', id: upTo(99), method, params };
  };
  if (chance() < 0.02) return oneOf(WHOLE);
  if (chance() < 0.03) return `${'['.repeat(upTo(40_000))}`;
  const one = written();
  // Mostly its parameters: what is no call at all is refused at once.
  if (chance() < 0.6) {
    const params = json(one.params, written().params);
    return JSON.stringify({ ...one, params });
  }
  const whole = chance() < 0.15 ? Array.from({ length: upTo(12) }, written) : one;
  const made = jsonText(JSON.stringify(whole), JSON.stringify(written()));
  return chance() < 0.05 ? text(made) : made;
}

const codesIn = (text: string): number[] => [...text.matchAll(/"code":(-?\d+)/g)].map(([, code]) => Number(code));

export const openRpcSurface: OpenSurface = async (mutator) => {
  const ledger = await openLedger();
  const handle = createJsonRpc(ledger.cluster, { log: ledger.log });
  const calls = callsOf(ledger.known);
  return {
    async bad() {
      const input = brokenText(mutator, calls);
      const method = mutator.oneOf(METHODS);
      const headers = { 'content-type': 'application/json' };
      const answer = await handle({ method, url: 'http://cluster.test/rpc', headers, body: input });
      const body = String(answer.body);
      const isInside = codesIn(body).includes(INTERNAL_ERROR) || ledger.faults.length > 0;
      const isForm =
        answer.status === 405 || body === '' || JSON.stringify(JSON.parse(body)).includes('"jsonrpc":"2.0"');
      const wrong = isInside
        ? `failed inside: ${body} ${ledger.faults.join()}`
        : isForm
          ? null
          : `is no answer: ${body}`;
      const [code = 'result'] = codesIn(body);
      return { input: `${method} ${input}`, answer: `${answer.status} ${code}`, wrong };
    },
    atRest: async () => [],
    close: ledger.close,
  };
};

const SUBSCRIPTIONS = ({ alice, signature, account }: Known): readonly Call[] => [
  ['accountSubscribe', account, { encoding: 'jsonParsed', commitment: 'confirmed' }],
  ['programSubscribe', TOKEN_PROGRAM, { encoding: 'base64', filters: [{ dataSize: 165 }] }],
  ['logsSubscribe', { mentions: [alice] }, { commitment: 'finalized' }],
  ['logsSubscribe', 'all'],
  ['signatureSubscribe', signature, { enableReceivedNotification: true }],
  ['slotSubscribe'],
  ['rootSubscribe'],
  ['blockSubscribe', 'all', {}],
  ['slotUnsubscribe', 1],
  ['accountUnsubscribe', 2],
  ['logsUnsubscribe', 3],
  ['getHealth'],
];

/** Messages of a connection, before it hangs up and another one comes. */
const MESSAGES = 300;

export const openSocketSurface: OpenSurface = async (mutator) => {
  const ledger = await openLedger();
  const pubSub = createPubSub(ledger.cluster.ledger, { log: ledger.log });
  const calls = SUBSCRIPTIONS(ledger.known);
  const heard: string[] = [];
  const connect = () => pubSub.connect({ client: 'fuzz', send: (text) => void heard.push(text) });
  let line = connect();
  let messages = 0;
  return {
    async bad() {
      if (++messages % MESSAGES === 0) {
        line.end();
        line = connect();
      }
      const input = brokenText(mutator, calls);
      heard.length = 0;
      await line.receive(input);
      const answers = heard.filter((text) => !text.includes('Notification"'));
      const [answer = ''] = answers;
      const code = codesIn(answer)[0] ?? (answer === '' ? 'nothing' : 'result');
      const isInside = code === INTERNAL_ERROR || ledger.faults.length > 0;
      const wrong = isInside
        ? `failed inside: ${answer} ${ledger.faults.join()}`
        : answers.length > 1
          ? `has ${answers.length} answers`
          : null;
      return { input, answer: String(code), wrong };
    },
    async atRest() {
      line.end();
      return line.count() === 0 ? [] : [`${line.count()} subscriptions are left`];
    },
    async close() {
      pubSub.close();
      await ledger.close();
    },
  };
};
