import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { type Meter, noMeter, timed } from '../../kernel/meter.ts';
import { networkFailure } from '../../kernel/network.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import { type DelayPolicy, retryDelayMs } from '../../store/index.ts';
import { epochAnswer } from './answers.ts';

const LEVELS = ['processed', 'confirmed', 'finalized'] as const;

type Level = (typeof LEVELS)[number];

/** The levels whose known slots an answer must reach: a node's processed slot is never behind its finalized one. */
const AT_LEAST: Readonly<Record<Level, readonly Level[]>> = {
  processed: ['processed', 'confirmed', 'finalized'],
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
};

/** The most slots between healthy nodes: a blockhash's life. */
const MOST_APART = 150;

const FASTEST_SLOT_MS = 100;

/** So many other addresses are believed, whatever slot they name. */
const ENOUGH_OTHERS = 2;

/** A slot and the time an address first named it. */
interface Reached {
  readonly slot: number;
  readonly atMs: number;
}

interface Place {
  readonly seen: Record<Level, number>;
  reached: Reached | null;
  /** A jump further than time allows, seen once. */
  leap: Reached | null;
}

/** The cluster's progress, seen from one address. */
type Standing = ReturnType<ReturnType<typeof createFreshness>['join']>;

/**
 * Remembers slots that each address named, of transactions too, so that a lagging node cannot take back known facts.
 * A slot further ahead than time allows counts against an address only when two others name it: one number must not
 * silence all others.
 */
export function createFreshness(now: () => number) {
  const places: Place[] = [];
  const within = ({ slot, atMs }: Reached): number => slot + MOST_APART + Math.max(0, now() - atMs) / FASTEST_SLOT_MS;

  return {
    join() {
      const own: Place = { seen: { processed: 0, confirmed: 0, finalized: 0 }, reached: null, leap: null };
      places.push(own);
      const reach = (slot: number): boolean => {
        const here = { slot, atMs: now() };
        const isOrdinary =
          own.reached === null ||
          slot <= within(own.reached) ||
          (own.leap !== null && slot >= own.leap.slot && slot <= within(own.leap));
        own.leap = isOrdinary ? null : here;
        if (isOrdinary && slot > (own.reached?.slot ?? -1)) own.reached = here;
        return isOrdinary;
      };
      return {
        /** The least slot of an answer at this level, from an address known to have come to `slot`. */
        floor(level: Level): (slot?: number) => number {
          const named = (place: Place) => Math.max(...AT_LEAST[level].map((one) => place.seen[one]));
          const ours = named(own);
          const others = places.filter((place) => place !== own).map(named);
          return (slot = 0) => {
            const furthest = Math.max(own.reached ? within(own.reached) : 0, slot + MOST_APART);
            const isBelieved = (claim: number) =>
              claim <= furthest || others.filter((other) => other >= claim).length >= ENOUGH_OTHERS;
            return Math.max(ours, ...others.filter(isBelieved));
          };
        },
        saw(level: Level, slot: number): void {
          if (reach(slot)) own.seen[level] = Math.max(own.seen[level], slot);
        },
        /** Slots from this one to the newest at this level; null for the only address. */
        lag: (level: Level, slot: number): number | null =>
          places.length < 2 ? null : Math.max(0, ...places.map(({ seen }) => seen[level])) - slot,
        /** True while only other addresses have named slots. */
        isUnknown: () => own.reached === null && places.some(({ reached }) => reached !== null),
      };
    },
  };
}

/** The requested level; statuses are always at the newest. */
function levelOf(method: string, params: readonly unknown[]): Level {
  if (method === 'getSignatureStatuses') return 'processed';
  const options = params.at(-1);
  const asked = typeof options === 'object' && options !== null && 'commitment' in options ? options.commitment : null;
  return asked === 'finalized' ? 'finalized' : 'confirmed';
}

/** An understood request that the cluster answered with an error. */
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

/** `final`: asking again is no use. `behind`: it lags, as is usual for a moment. `away`: the host out of reach. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly pauseMs: number | null = null;
  readonly final: boolean = false;
  readonly behind: boolean = false;
  readonly away: string | null = null;
  constructor(
    readonly why: string,
    more: Partial<Pick<NoAnswer, 'pauseMs' | 'final' | 'behind' | 'away'>> = {},
  ) {
    super(why);
    Object.assign(this, more);
  }
}

export interface Member {
  /** The address without its secrets. */
  readonly host: string;
  /** Asks once and checks the result against `schema`. @throws NoAnswer, RpcRefusal */
  ask<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    signal?: AbortSignal,
  ): Promise<z.output<S>>;
  /** Epoch ms until which others come first; infinite for another cluster's address. */
  asideUntilMs(): number;
  /** Leaves the address aside, longer with each failure in a row and at least as long as it asked. */
  leaveAside(why: string, askedMs?: number | null): void;
}

/** The first block that all addresses share; null while unknown. */
export interface Genesis {
  hash: string | null;
}

const TIMEOUT_MS = 15_000;
const COMPARED_AGAIN_MS = 60_000;
const ASIDE: DelayPolicy = { firstMs: 4_000, factor: 2, mostMs: 60_000, jitter: 'none' };

/** A slot: nodes soon catch up. */
const BEHIND_MS = 400;

/** Failures in a row before a line in the log. */
const TELL_AFTER = 3;

/**
 * JSON-RPC errors of the request itself (https://solana.com/docs/rpc): failed preflight, signatures, specified codes.
 * Others are the node's: behind (-32005), missing blocks (-32004, -32007, -32014, -32016), broken (-32603), busy.
 */
const REFUSALS = new Set([-32003, -32013, -32600, -32601, -32602]);

const PREFLIGHT_FAILED = -32002;
const SLOT_NOT_REACHED = -32016;
const preflight = z.looseObject({ err: z.union([z.string(), z.looseObject({})]) });

/** A preflight without a transaction's error did not run the transaction. */
const isRefusal = ({ code, data }: { readonly code: number; readonly data?: unknown }): boolean =>
  code === PREFLIGHT_FAILED ? preflight.safeParse(data).success : REFUSALS.has(code);

const envelope = z.looseObject({
  id: z.unknown(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number(), message: z.string(), data: z.unknown().optional() }).optional(),
});

/** Methods whose answer has no slot, and simulations: the node itself has to refuse if it lags. */
const HELD_BY_NODE = new Set(['getSignaturesForAddress', 'simulateTransaction']);

const TELLS_OF_LANDED = new Set(['getSignatureStatuses', 'getTransaction']);

/** Slots of transactions in an answer have been reached too. */
const landedSlots = z.union([
  z
    .looseObject({
      context: z.looseObject({ slot: z.int() }),
      value: z.array(
        z
          .looseObject({ slot: z.int(), confirmationStatus: z.enum(LEVELS).nullish() })
          .transform(({ slot, confirmationStatus }) => [confirmationStatus ?? 'finalized', slot] as const)
          .nullable(),
      ),
    })
    // Nothing lands past the node's newest slot.
    .transform(({ context, value }) => value.filter((one) => one !== null).filter(([, slot]) => slot <= context.slot)),
  z.looseObject({ slot: z.int(), meta: z.looseObject({}) }).transform(({ slot }) => [[null, slot] as const]),
]);

/** Slots with their level, or null for the requested one. */
const landedIn = (method: string, result: unknown) =>
  TELLS_OF_LANDED.has(method) ? (landedSlots.safeParse(result).data ?? []) : [];

/** The node's own slot in an answer. */
const answerSlot = z.union([
  z.looseObject({ context: z.looseObject({ slot: z.int() }) }).transform(({ context }) => context.slot),
  z.looseObject({ absoluteSlot: z.int() }).transform(({ absoluteSlot }) => absoluteSlot),
]);

interface MemberOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly standing: Standing;
  readonly genesis: Genesis;
  readonly log: Log;
  readonly meter?: Meter | undefined;
  readonly closing: AbortSignal;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : shownUrl(url));

export function createMember(options: MemberOptions): Member {
  const { url, clock, standing, genesis, log, meter = noMeter } = options;
  const host = hostOf(url);
  let calls = 0;
  let failures = 0;
  let asideUntilMs = 0;
  let own: { readonly genesis: string; readonly atMs: number } | null = null;
  let comparing: Promise<string> | null = null;

  async function exchange<S extends z.ZodType>(
    [method, params, schema]: readonly [string, readonly unknown[], S],
    signals: readonly AbortSignal[],
  ): Promise<z.output<S>> {
    const id = ++calls;
    const level = levelOf(method, params);
    const floor = standing.floor(level);
    const asked = HELD_BY_NODE.has(method) ? withLeast(params, floor()) : params;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: asked });
    const result = await timed(
      async () => resultIn(await post(options, body, signals), id),
      (error, seconds) => meter('rpc', { endpoint: host, method, result: resultOf(error, signals) }, seconds),
    );
    const slot = answerSlot.safeParse(result);
    const lag = slot.success ? standing.lag(level, slot.data) : null;
    if (lag !== null) meter('slot_lag', { endpoint: host }, Math.max(0, lag));
    if (slot.success && slot.data < floor(slot.data)) {
      const why = `it answered for slot ${slot.data}, behind the known slot ${floor(slot.data)}`;
      throw new NoAnswer(why, { behind: true });
    }
    const checked = schema.safeParse(result);
    if (!checked.success) throw new NoAnswer('its answer has another form than expected');
    if (slot.success) standing.saw(level, slot.data);
    for (const [at, landed] of landedIn(method, result)) standing.saw(at ?? level, landed);
    if (method === 'getGenesisHash') own = { genesis: String(result), atMs: clock.now() };
    return checked.data;
  }

  /** Compares the first block at first use and once a minute: a balancer may add a wrong node, a name may move. */
  async function checkGenesis(): Promise<void> {
    if (genesis.hash === null) return;
    const isKnown = own?.genesis === genesis.hash && Math.abs(clock.now() - own.atMs) < COMPARED_AGAIN_MS;
    if (isKnown) return;
    comparing ??= exchange(['getGenesisHash', [], z.string()], []).finally(() => {
      comparing = null;
    });
    if ((await comparing) === genesis.hash) return;
    asideUntilMs = Number.POSITIVE_INFINITY;
    log('error', 'rpc_other_cluster', { host });
    throw new NoAnswer(`${host} leads to another cluster`, { final: true });
  }

  function leaveAside(why: string, askedMs: number | null = null): void {
    failures++;
    const delayMs = Math.max(retryDelayMs(ASIDE, failures), Math.min(askedMs ?? 0, ASIDE.mostMs));
    asideUntilMs = Math.max(asideUntilMs, clock.now() + delayMs);
    if (failures === TELL_AFTER) log('warn', 'rpc_left_aside', { host, why });
  }

  return {
    host,
    asideUntilMs: () => asideUntilMs,
    leaveAside,
    async ask(method, params, schema, signal) {
      const signals = signal ? [signal] : [];
      try {
        if (method !== 'getGenesisHash') await checkGenesis();
        if (HELD_BY_NODE.has(method) && standing.isUnknown()) {
          await exchange(['getEpochInfo', [{ commitment: 'confirmed' }], epochAnswer], signals);
        }
        const answer = await exchange([method, params, schema], signals);
        failures = 0;
        asideUntilMs = 0;
        return answer;
      } catch (error) {
        if (error instanceof NoAnswer && !signal?.aborted) {
          if (error.behind) asideUntilMs = Math.max(asideUntilMs, clock.now() + BEHIND_MS);
          else leaveAside(error.why, error.pauseMs);
        }
        throw error;
      }
    },
  };
}

/** `cancelled`: another address was quicker. */
const resultOf = (error: unknown, signals: readonly AbortSignal[]): string => {
  if (error === undefined) return 'ok';
  if (error instanceof RpcRefusal) return 'refused';
  return signals.some(({ aborted }) => aborted) ? 'cancelled' : 'no_answer';
};

async function post(
  { url, clock, closing, fetch }: MemberOptions,
  body: string,
  signals: readonly AbortSignal[],
): Promise<{ readonly status: number; readonly text: string }> {
  const silence = silenceOf(hostOf(url));
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), closing, ...signals]),
  }).catch(silence);
  const { status } = response;
  const text = await response.text().catch(silence);
  if (status === 408 || status === 429 || status >= 500) {
    const pauseMs = retryAfterMs(response.headers.get('retry-after'), clock);
    throw new NoAnswer(`it answered ${status}`, { pauseMs });
  }
  return { status, text };
}

/** Adds the least slot that the node must have reached. */
const withLeast = (params: readonly unknown[], minContextSlot: number): readonly unknown[] => [
  ...params.slice(0, -1),
  { ...(params.at(-1) as object), minContextSlot },
];

/** @throws NoAnswer, RpcRefusal */
function resultIn({ status, text }: { readonly status: number; readonly text: string }, id: number): unknown {
  const answer = envelope.safeParse(parseJson(text));
  if (!answer.success) {
    // Wrong addresses and keys stay wrong; a page with status 200 comes from a proxy.
    if (status >= 400) throw new NoAnswer(`it answered ${status}`, { final: true });
    throw new NoAnswer('its answer is not JSON-RPC');
  }
  if (answer.data.id !== id) throw new NoAnswer('it answered another request');
  const { error, result } = answer.data;
  if (!error) return result;
  if (isRefusal(error)) throw new RpcRefusal(error.code, error.message, error.data);
  throw new NoAnswer(`${error.message} (${error.code})`, { behind: error.code === SLOT_NOT_REACHED });
}

/** fetch throws only for the network, with the cause (ECONNREFUSED). */
const silenceOf = (host: string) => (error: unknown) => {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const isUnsent = networkFailure(error).kind === 'unsent';
  throw new NoAnswer(
    cause instanceof Error ? cause.message || cause.name : 'no connection',
    isUnsent ? { away: host } : {},
  );
};

/** Seconds or a date. */
function retryAfterMs(header: string | null, clock: Clock): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - clock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Keeps integers past a double's range as text, which `integer` reads. */
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
