import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type Problem, problem } from '../../kernel/problems.ts';

/** What the cluster answered instead of a result: it understood the request and refuses it. */
export class RpcRefusal extends Error {
  override readonly name = 'RpcRefusal';
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

export interface RpcCaller {
  /**
   * Calls a method and checks its result against `schema`. Network errors, 429 and 5xx are tried again: every
   * method called here may be, for even the same transaction sent twice lands once.
   * @throws Problem `cluster_failed` without an answer; RpcRefusal for a JSON-RPC error.
   */
  call: Call;
  /** The same where a refusal says nothing of interest: that is `cluster_failed` too. */
  read: Call;
}

type Call = <S extends z.ZodType>(
  method: string,
  params: readonly unknown[],
  schema: S,
) => Promise<z.output<S>>;

const TRIES = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
const TIMEOUT_MS = 15_000;

const envelope = z.looseObject({
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});

export function createCaller(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}): RpcCaller {
  const { url, clock } = options;
  const once = async (body: string): Promise<{ text: string } | { failure: string; pauseMs?: number }> => {
    try {
      const response = await options.fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.status !== 429 && response.status < 500) return { text };
      const retryAfterMs = Number(response.headers.get('retry-after')) * 1000;
      const failure = `it answered ${response.status}`;
      return retryAfterMs > 0 ? { failure, pauseMs: Math.min(retryAfterMs, LONGEST_PAUSE_MS) } : { failure };
    } catch (error) {
      // fetch throws for the network alone; the cause names it (ECONNREFUSED and the like).
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      return { failure: cause instanceof Error ? cause.message || cause.name : 'no connection' };
    }
  };
  const call: Call = async (method, params, schema) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    for (let attempt = 1; ; attempt++) {
      const answer = await once(body);
      if ('text' in answer) return resultOf(method, answer.text, schema);
      if (attempt >= TRIES) throw silent(method, answer.failure);
      await clock.sleep(answer.pauseMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  };
  return {
    call,
    async read(method, params, schema) {
      try {
        return await call(method, params, schema);
      } catch (error) {
        throw error instanceof RpcRefusal ? silent(method, error.message) : error;
      }
    },
  };
}

function resultOf<S extends z.ZodType>(method: string, text: string, schema: S): z.output<S> {
  const answer = envelope.safeParse(parseJson(text));
  if (!answer.success) throw silent(method, 'its answer is not JSON-RPC');
  const { error, result } = answer.data;
  if (error) throw new RpcRefusal(error.code, error.message, error.data);
  const checked = schema.safeParse(result);
  if (!checked.success) throw silent(method, 'its answer has another form than expected');
  return checked.data;
}

export const silent = (method: string, why: string): Problem =>
  problem('cluster_failed', {
    message: `The Solana cluster gave no usable answer to ${method}: ${why}.`,
    detail: { method },
  });

/** JSON in which an integer that a double cannot hold exactly is kept as text; see `integer`. */
function parseJson(text: string): unknown {
  const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) ? `"${token}"` : token,
  );
  try {
    return JSON.parse(exact);
  } catch {
    return undefined;
  }
}

/** An integer of a cluster's answer, up to 64 bits. */
export const integer = z.union([z.int(), z.string().regex(/^-?\d+$/)]).transform((value) => BigInt(value));
