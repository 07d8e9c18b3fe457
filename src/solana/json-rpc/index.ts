import { type HttpHeaders, type HttpRequest, HttpResponse, readBody } from '../../kernel/http.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { storageFields } from '../../store/index.ts';
import { GENESIS_HASHES } from '../cluster-settings.ts';
import type { EmbeddedCluster } from '../embedded/index.ts';
import { accountMethods } from './account-methods.ts';
import { blockMethods } from './block-methods.ts';
import { chainMethods, validatorMethods } from './chain-methods.ts';
import { createMeter, createScales, createTurns, isCall, parseJson } from './cost.ts';
import { transactionMethods } from './transaction-methods.ts';
import { JsonRpcError, type Method, toJson } from './wire.ts';

export { type Call, createTurns, isCall, parseJson, type Turns } from './cost.ts';
export { encodeAccount } from './encode-account.ts';
export * from './wire.ts';

const MOST_BODY_BYTES = 256 * 1024;
const MOST_BATCH = 100;

/** Answers Solana's JSON-RPC (https://solana.com/docs/rpc), in slices; `sendTransaction` answers after landing. */
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

  /** Returns undefined for a notification. */
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
