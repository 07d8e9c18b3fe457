import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { createFreshness, levelOf } from './freshness.ts';

/** A refusal by the cluster: it understood the request, and answered with an error. */
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
   * Calls a method and checks its result against `schema`. Whatever is no answer to it is asked for again, within
   * bounds: network errors, 429 and 5xx (as late as `Retry-After` asks for), torn and foreign answers, answers that
   * are older than an earlier answer, and refusals of a node that is behind or busy.
   * @throws Problem `cluster_failed` without an answer; RpcRefusal for a refusal of the request itself.
   */
  call: Call;
  /** The same, asked a single time. */
  once: Call;
  /** The same as `call` where a refusal says nothing of interest: that is `cluster_failed` too. */
  read: Call;
  /** The newest slot that confirmed answers were of: what a node must have reached to be asked for more. */
  confirmedSlot(): number;
}

type Call = <S extends z.ZodType>(
  method: string,
  params: readonly unknown[],
  schema: S,
) => Promise<z.output<S>>;

const TRIES = 8;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** A node that asks for a longer pause is not waited for: the caller is asked to come back. */
const LONGEST_ASKED_PAUSE_MS = 5_000;
const TIMEOUT_MS = 15_000;
/** After so long nothing is asked again: somebody waits for the answer. */
const PATIENCE_MS = 20_000;

/**
 * JSON-RPC errors about the request itself (https://solana.com/docs/rpc): a preflight that failed, a wrong signature
 * or their number, and what the specification of JSON-RPC names. Every other code is the node's own trouble: it is
 * behind (-32005), lacks a block or a slot (-32004, -32007, -32014, -32016), or is broken (-32603) or busy.
 */
const REFUSALS = new Set([-32003, -32013, -32600, -32601, -32602]);
const PREFLIGHT_FAILED = -32002;
const preflight = z.looseObject({ err: z.union([z.string(), z.looseObject({})]) });

/** A preflight that names no error of the transaction did not try it out. */
const isRefusal = ({ code, data }: { readonly code: number; readonly data?: unknown }): boolean =>
  code === PREFLIGHT_FAILED ? preflight.safeParse(data).success : REFUSALS.has(code);

const envelope = z.looseObject({
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});
const answerContext = z.looseObject({ context: z.looseObject({ slot: z.int() }) });

/** No answer that counts. `final`: asking again would give the same. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  constructor(
    readonly why: string,
    readonly pauseMs: number | null = null,
    readonly final = false,
  ) {
    super(why);
  }
}

export function createCaller(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
}): RpcCaller {
  const { url, clock } = options;
  const freshness = createFreshness();
  let calls = 0;

  async function post(body: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await options
      .fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      .catch(silence);
    const { status } = response;
    const text = await response.text().catch(silence);
    if (status === 408 || status === 429 || status >= 500) {
      throw new NoAnswer(`it answered ${status}`, retryAfterMs(response.headers.get('retry-after'), clock));
    }
    return { status, text };
  }

  async function ask<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
  ): Promise<z.output<S>> {
    const id = ++calls;
    const level = levelOf(method, params);
    const floor = freshness.floor(level);
    const { status, text } = await post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const answer = envelope.safeParse(parseJson(text));
    if (!answer.success) {
      // A wrong address or key stays wrong; a page with status 200 is somebody between us and the node.
      if (status >= 400) throw new NoAnswer(`it answered ${status}`, null, true);
      throw new NoAnswer('its answer is not JSON-RPC');
    }
    if (answer.data.id !== id) throw new NoAnswer('it answered another request');
    const { error, result } = answer.data;
    if (error && isRefusal(error)) throw new RpcRefusal(error.code, error.message, error.data);
    if (error) throw new NoAnswer(`${error.message} (${error.code})`);
    const context = answerContext.safeParse(result);
    if (context.success) {
      const { slot } = context.data.context;
      if (slot < floor) throw new NoAnswer(`it answered of slot ${slot}, and had told of ${floor} before`);
      freshness.saw(level, slot);
    }
    const checked = schema.safeParse(result);
    if (!checked.success) throw new NoAnswer('its answer has another form than expected');
    return checked.data;
  }

  const once: Call = (method, params, schema) =>
    ask(method, params, schema).catch((error: unknown) => {
      throw error instanceof NoAnswer ? silent(method, error.why, error.pauseMs) : error;
    });
  const call: Call = async (method, params, schema) => {
    const startedMs = clock.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(method, params, schema);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        const late = clock.now() - startedMs >= PATIENCE_MS;
        if (error.final || late || attempt >= TRIES) throw silent(method, error.why, error.pauseMs);
        await clock.sleep(pauseMs(error.pauseMs, attempt));
      }
    }
  };
  return {
    call,
    once,
    async read(method, params, schema) {
      try {
        return await call(method, params, schema);
      } catch (error) {
        throw error instanceof RpcRefusal ? silent(method, error.message) : error;
      }
    },
    confirmedSlot: () => freshness.floor('confirmed'),
  };
}

/** fetch throws for the network alone; the cause names it (ECONNREFUSED and the like). */
function silence(error: unknown): never {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  throw new NoAnswer(cause instanceof Error ? cause.message || cause.name : 'no connection');
}

/** How long to wait before the next of several tries: as long as the node asked, else longer each time. */
export const pauseMs = (askedMs: number | null, attempt: number): number =>
  askedMs === null
    ? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1))
    : Math.min(askedMs, LONGEST_ASKED_PAUSE_MS);

/** `Retry-After` is a number of seconds or a date. */
function retryAfterMs(header: string | null, clock: Clock): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** The pause in ms that the node asked for, from a `cluster_failed` that came from here. */
export const askedPauseMs = (error: Problem): number | null =>
  error.retryAfter === undefined ? null : error.retryAfter * 1000;

export const silent = (method: string, why: string, askedMs: number | null = null): Problem =>
  problem('cluster_failed', {
    message: `The Solana cluster gave no usable answer to ${method}: ${why}.`,
    detail: { method },
    ...(askedMs === null ? {} : { retryAfter: askedMs / 1000 }),
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
