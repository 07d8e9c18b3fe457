import type { Address } from '@solana/kit';
import * as z from 'zod';
import { type HttpHeaders, type HttpRequest, HttpResponse, readBody } from '../../kernel/http.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { storageFields } from '../../store/index.ts';
import { GENESIS_HASHES } from '../cluster-settings.ts';
import { type EmbeddedCluster, type EmbeddedLedger, epochOf, SLOTS_PER_EPOCH } from '../embedded/index.ts';
import { accountMethods } from './account-methods.ts';
import { blockMethods } from './block-methods.ts';
import { chainMethods } from './chain-methods.ts';
import { createMeter, createScales, createTurns, eachPage, isCall, parseJson, type Turns } from './cost.ts';
import { transactionMethods } from './transaction-methods.ts';
import {
  API_VERSION,
  addressParam,
  answered,
  commitment,
  config,
  contextOf,
  integerParam,
  JsonRpcError,
  type Method,
  method,
  toJson,
  WrittenJson,
} from './wire.ts';

export { type Call, createTurns, isCall, parseJson, type Turns } from './cost.ts';
export { encodeAccount } from './encode-account.ts';
export * from './wire.ts';

const MOST_BODY_BYTES = 256 * 1024;
const MOST_BATCH = 100;

/**
 * Answers Solana's JSON-RPC (https://solana.com/docs/rpc) for kit, web3.js and x402's client: single requests, batches
 * and notifications, of limited cost, in slices. `sendTransaction` answers after landing.
 */
export function createJsonRpc(
  cluster: EmbeddedCluster,
  options: { readonly log?: Log; readonly genesis?: string | undefined } = {},
): (request: HttpRequest) => Promise<HttpResponse> {
  const log = options.log ?? silentLog;
  const turns = createTurns();
  const scales = createScales();
  const methods = new Map<string, Method>(
    Object.entries({
      // x402 identifies a cluster by its genesis hash, and knows only mainnet, devnet and testnet.
      ...chainMethods(cluster, options.genesis ?? GENESIS_HASHES.devnet),
      ...accountMethods(cluster.ledger, turns),
      ...transactionMethods(cluster.ledger, turns),
      ...blockMethods(cluster.ledger, turns, cluster.identity),
      ...validatorMethods(cluster.ledger, turns, cluster.identity),
    }),
  );

  /** undefined for a notification. */
  const answer = async (call: unknown): Promise<string | undefined> => {
    if (!isCall(call)) return failure(null, new JsonRpcError('invalid_request', 'Invalid request'));
    const id = call.id ?? null;
    try {
      const run = methods.get(call.method);
      if (!run) throw new JsonRpcError('method_not_found', 'Method not found');
      const params = call.params ?? [];
      if (!Array.isArray(params)) throw new JsonRpcError('invalid_params', '`params` should have at most an array');
      const result = await turns.run(() => run(params));
      await cluster.ledger.onDisk();
      return call.id === undefined ? undefined : toJson({ jsonrpc: '2.0', result, id });
    } catch (error) {
      if (call.id === undefined) return undefined;
      if (error instanceof JsonRpcError) return failure(id, error);
      log('error', 'rpc_call_failed', { method: call.method, ...storageFields(error) });
      return failure(id, new JsonRpcError('internal_error', 'Internal error'));
    }
  };

  return async (request) => {
    if (request.method !== 'POST') {
      return new HttpResponse(405, 'Used HTTP Method is not allowed. POST is required\n', {
        'content-type': 'text/plain;charset=UTF-8',
        allow: 'POST',
      });
    }
    const bytes = await readBody(request.body, MOST_BODY_BYTES);
    if (bytes === null) {
      const tooLarge = failure(null, new JsonRpcError('invalid_request', 'Request too large'));
      // Closes the connection, as the rest is not read.
      return json(tooLarge, 413, { connection: 'close' });
    }
    const body = await turns.run(() => parseJson(new TextDecoder().decode(bytes)));
    if (body === undefined) return json(failure(null, new JsonRpcError('parse_error', 'Parse error')));
    const calls: readonly unknown[] = Array.isArray(body) ? body : [body];
    if (calls.length === 0 || calls.length > MOST_BATCH) {
      return json(failure(null, new JsonRpcError('invalid_request', 'Invalid request')));
    }
    const weighed = scales.weigh(calls);
    if (typeof weighed !== 'function') {
      const retry = weighed.status === 429 ? { 'retry-after': '1' } : {};
      return json(failure(null, weighed.error), weighed.status, retry);
    }
    try {
      return await answerAll(calls, Array.isArray(body));
    } finally {
      weighed();
    }
  };

  async function answerAll(calls: readonly unknown[], isBatch: boolean): Promise<HttpResponse> {
    const meter = createMeter();
    const answers: string[] = [];
    try {
      for (const call of calls) {
        const one = await answer(call);
        if (one === undefined) continue;
        meter(one.length);
        answers.push(one);
      }
    } catch (error) {
      if (!(error instanceof JsonRpcError)) throw error;
      return json(failure(null, error), 413);
    }
    if (!isBatch) return json(answers[0] ?? '');
    return json(answers.length > 0 ? `[${answers.join(',')}]` : '');
  }
}

const failure = (id: string | number | null, { code, message, data }: JsonRpcError): string =>
  toJson({ jsonrpc: '2.0', error: { code, message, data }, id });

const json = (body: string, status = 200, headers: HttpHeaders = {}): HttpResponse =>
  new HttpResponse(status, body, { 'content-type': 'application/json; charset=utf-8', ...headers });

const MOST_LEADERS = 5_000;
const MOST_REWARDS = 100;
const MOST_LARGEST = 20;

const PAGE = 1_000;

const none = z.tuple([]);
const optionsOnly = z.tuple([config]);

/** One node leads every slot: no stake, no votes, no inflation. */
function validatorMethods(ledger: EmbeddedLedger, turns: Turns, identity: Address): Record<string, Method> {
  return {
    ...supplyMethods(ledger, turns),
    getIdentity: method(none, () => ({ identity })),
    getClusterNodes: method(none, () => [nodeOf(identity)]),
    getVoteAccounts: method(z.tuple([z.looseObject({}).optional()]), () => ({ current: [], delinquent: [] })),
    getSlotLeader: method(optionsOnly, (options) => {
      contextOf(ledger, options);
      return identity;
    }),
    getSlotLeaders: method(z.tuple([integerParam, integerParam]), (_first, limit) => {
      if (limit < 1 || limit > MOST_LEADERS)
        throw new JsonRpcError('invalid_params', `Invalid limit; max ${MOST_LEADERS}`);
      return Array.from({ length: limit }, () => identity);
    }),
    getLeaderSchedule: getLeaderSchedule(ledger, identity),
    getEpochSchedule: method(none, () => EPOCH_SCHEDULE),
    getInflationGovernor: method(optionsOnly, () => NO_INFLATION),
    getInflationRate: method(none, () => ({ epoch: epochOf(ledger.peek().slot), ...NO_INFLATION_RATE })),
    getInflationReward: method(
      z.tuple([z.array(addressParam).max(MOST_REWARDS), z.looseObject({}).optional()]),
      (addresses) => addresses.map(() => null),
    ),
    getStakeMinimumDelegation: method(optionsOnly, (options) => answered(ledger, options, 1_000_000_000)),
    // Alpenglow has not begun here.
    getAgGenesisCert: method(none, () => null),
    getHighestSnapshotSlot: method(none, () => {
      throw new JsonRpcError('no_snapshot', 'No snapshot');
    }),
  };
}

const NO_INFLATION = { foundation: 0, foundationTerm: 0, initial: 0, taper: 0, terminal: 0 };
const NO_INFLATION_RATE = { foundation: 0, total: 0, validator: 0 };
const EPOCH_SCHEDULE = {
  ...{ firstNormalEpoch: 0, firstNormalSlot: 0, leaderScheduleSlotOffset: SLOTS_PER_EPOCH },
  ...{ slotsPerEpoch: SLOTS_PER_EPOCH, warmup: false },
};

/** Ports are null: there is no gossip. */
const nodeOf = (pubkey: Address) => ({
  ...{ pubkey, featureSet: null, gossip: null, pubsub: null, rpc: null, serveRepair: null, shredVersion: 0 },
  ...{ tpu: null, tpuForwards: null, tpuForwardsQuic: null, tpuQuic: null, tpuVote: null, tvu: null },
  version: API_VERSION,
});

function getLeaderSchedule(ledger: EmbeddedLedger, identity: Address): Method {
  const options = z.looseObject({ commitment, identity: addressParam.nullish() });
  const params = z.tuple([z.union([integerParam.nullable(), options]).optional(), options.optional()]);
  // Three megabytes, equal in every answer: written once.
  let everySlot: WrittenJson | null = null;
  return method(params, (first, second) => {
    const { slot } = ledger.now();
    const asked = typeof first === 'number' ? first : slot;
    // Validators know the schedule of this epoch and the next.
    if (epochOf(asked) > epochOf(slot) + 1n) return null;
    const wanted = (typeof first === 'object' ? first : second)?.identity ?? identity;
    if (wanted !== identity) return {};
    everySlot ??= new WrittenJson(JSON.stringify(Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => index)));
    return { [identity]: everySlot };
  });
}

type Held = ReturnType<EmbeddedLedger['lamportsPage']>[number];

function supplyMethods(ledger: EmbeddedLedger, turns: Turns): Record<string, Method> {
  const scan = (look: (held: Held) => void) =>
    eachPage(turns, PAGE, (last) => ledger.lamportsPage(last?.address ?? '', PAGE), look);
  const filter = z.enum(['circulating', 'nonCirculating']).nullish();
  return {
    getSupply: method(z.tuple([z.looseObject({ commitment }).optional()]), async () => {
      let total = 0n;
      await scan(({ lamports }) => {
        total += lamports;
      });
      return answered(ledger, {}, { circulating: total, nonCirculating: 0, nonCirculatingAccounts: [], total });
    }),
    getLargestAccounts: method(z.tuple([z.looseObject({ commitment, filter }).optional()]), async (options) => {
      let largest: Held[] = [];
      const isShown = options?.filter !== 'nonCirculating';
      if (isShown)
        await scan((held) => {
          if (largest.length === MOST_LARGEST && held.lamports <= (largest.at(-1)?.lamports ?? 0n)) return;
          largest = [...largest, held].sort(byMost).slice(0, MOST_LARGEST);
        });
      return answered(ledger, {}, largest);
    }),
  };
}

const byMost = (a: Held, b: Held): number => (a.lamports < b.lamports ? 1 : a.lamports > b.lamports ? -1 : 0);
