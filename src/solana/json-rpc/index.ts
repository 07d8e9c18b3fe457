import { type HttpHeaders, type HttpRequest, HttpResponse, readBody } from '../../kernel/http.ts';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import { storageFields } from '../../store/watch.ts';
import type { EmbeddedCluster } from '../embedded/open.ts';
import { GENESIS_HASHES } from '../monikers.ts';
import { accountMethods } from './account-methods.ts';
import { blockMethods } from './block-methods.ts';
import { isCall, parseJson } from './call.ts';
import { chainMethods } from './chain-methods.ts';
import { createMeter, createScales } from './cost.ts';
import { transactionMethods } from './transaction-methods.ts';
import { createTurns } from './turns.ts';
import { validatorMethods } from './validator-methods.ts';
import {
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  JsonRpcError,
  METHOD_NOT_FOUND,
  type Method,
  PARSE_ERROR,
  toJson,
} from './wire.ts';

const MOST_BODY_BYTES = 256 * 1024;
const MOST_BATCH = 100;

/**
 * The embedded cluster as a Solana JSON-RPC endpoint (https://solana.com/docs/rpc): a handler to be mounted
 * under any path. It takes what kit, web3.js and x402's own client send: single requests, batches and
 * notifications. What a request may cost is limited, and it is answered in slices: whoever else is served by the process
 * does not wait for it. `sendTransaction` answers after the transaction has
 * landed. Subscriptions are next door (`solana/pubsub`).
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
      // x402 takes a cluster for what its genesis hash says, and knows only mainnet, devnet and testnet.
      ...chainMethods(cluster, options.genesis ?? GENESIS_HASHES.devnet),
      ...accountMethods(cluster.ledger, turns),
      ...transactionMethods(cluster.ledger, turns),
      ...blockMethods(cluster.ledger, turns, cluster.identity),
      ...validatorMethods(cluster.ledger, turns, cluster.identity),
    }),
  );

  /** undefined for a notification, which gets no answer. */
  const answer = async (call: unknown): Promise<string | undefined> => {
    if (!isCall(call)) return failure(null, new JsonRpcError(INVALID_REQUEST, 'Invalid request'));
    const id = call.id ?? null;
    try {
      const run = methods.get(call.method);
      if (!run) throw new JsonRpcError(METHOD_NOT_FOUND, 'Method not found');
      const params = call.params ?? [];
      if (!Array.isArray(params))
        throw new JsonRpcError(INVALID_PARAMS, '`params` should have at most an array');
      const result = await turns.run(() => run(params));
      await cluster.ledger.onDisk();
      return call.id === undefined ? undefined : toJson({ jsonrpc: '2.0', result, id });
    } catch (error) {
      if (call.id === undefined) return undefined;
      if (error instanceof JsonRpcError) return failure(id, error);
      log('error', 'rpc_call_failed', { method: call.method, ...storageFields(error) });
      return failure(id, new JsonRpcError(INTERNAL_ERROR, 'Internal error'));
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
      const tooLarge = failure(null, new JsonRpcError(INVALID_REQUEST, 'Request too large'));
      // The rest is not read, so nothing more can come over the connection.
      return json(tooLarge, 413, { connection: 'close' });
    }
    const body = await turns.run(() => parseJson(new TextDecoder().decode(bytes)));
    if (body === undefined) return json(failure(null, new JsonRpcError(PARSE_ERROR, 'Parse error')));
    const calls: readonly unknown[] = Array.isArray(body) ? body : [body];
    if (calls.length === 0 || calls.length > MOST_BATCH) {
      return json(failure(null, new JsonRpcError(INVALID_REQUEST, 'Invalid request')));
    }
    const weighed = scales.weigh(calls);
    if (typeof weighed !== 'function') {
      const retry = weighed.status === 429 ? { 'retry-after': '1' } : {};
      return json(failure(null, weighed.error), weighed.status, retry);
    }
    try {
      return await answered(calls, Array.isArray(body));
    } finally {
      weighed();
    }
  };

  async function answered(calls: readonly unknown[], isBatch: boolean): Promise<HttpResponse> {
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
