import type * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { firstAnswer } from '../../kernel/first-answer.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { type DelayPolicy, retryDelayMs } from '../../store/index.ts';
import { type Member, NoAnswer, RpcRefusal } from './member.ts';

export interface RpcCaller {
  /**
   * Checks the result against `schema`. Retries within bounds, at other addresses too, after network errors, 429, 5xx,
   * torn or stale answers, and busy nodes. @throws Problem `cluster_failed` without an answer; RpcRefusal for refusals
   */
  call: Call;
  /** Turns refusals into `cluster_failed` too. */
  read: Call;
  /** Asks every available address once, waiting at most `lateMs` after the first answer. */
  fromEach<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    lateMs?: number,
  ): Promise<readonly Said<z.output<S>>[]>;
  /** One caller per address, to compare answers. */
  alone(): readonly RpcCaller[];
}

type Call = <S extends z.ZodType>(method: string, params: readonly unknown[], schema: S) => Promise<z.output<S>>;

export type Said<T> =
  | { readonly host: string; readonly kind: 'answer'; readonly answer: T }
  | { readonly host: string; readonly kind: 'refusal'; readonly refusal: RpcRefusal }
  | { readonly host: string; readonly kind: 'silence'; readonly pauseMs: number | null };

const TRIES = 8;
const PAUSES: DelayPolicy = { firstMs: 100, factor: 2, mostMs: 2_000, jitter: 'none' };
/** A longer pause is passed on to the caller. */
const LONGEST_ASKED_PAUSE_MS = 5_000;
/** The longest that a person waits. */
const PATIENCE_MS = 20_000;
/** Slower addresses are passed over where another exists. */
const SLOW_MS = 250;

export function createCaller(members: readonly Member[], clock: Clock): RpcCaller {
  /** The available members; without any, all, the soonest available first. */
  const candidates = (): readonly Member[] => {
    const [only] = members;
    if (members.length === 1 && only) return [only];
    const ours = members.filter((one) => one.asideUntilMs() !== Number.POSITIVE_INFINITY);
    const ready = ours.filter((one) => one.asideUntilMs() <= clock.now());
    return ready.length > 0 ? ready : ours.toSorted((a, b) => a.asideUntilMs() - b.asideUntilMs());
  };

  const ask: Call = async (method, params, schema) => {
    const asked = candidates();
    if (asked.length === 0) throw new NoAnswer('every address leads to another cluster', { final: true });
    return firstAnswer(
      asked.map((member) => (signal: AbortSignal) => member.ask(method, params, schema, signal)),
      {
        patienceMs: SLOW_MS,
        isFinal: (error) => !(error instanceof NoAnswer),
        overtaken: (place) => asked[place]?.leaveAside('it is slow'),
      },
    );
  };

  const call: Call = async (method, params, schema) => {
    const startedMs = clock.now();
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(method, params, schema);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        const isFinal = error.final && members.length === 1;
        const late = clock.now() - startedMs >= PATIENCE_MS;
        if (isFinal || late || attempt >= TRIES)
          throw error.away === null ? silent(method, error.why, error.pauseMs) : unreachable(error.away, error);
        await clock.sleep(pauseMs(error.pauseMs, attempt));
      }
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
    fromEach: (method, params, schema, lateMs = SLOW_MS) =>
      inTime(candidates(), lateMs, (member, signal) => member.ask(method, params, schema, signal)),
    alone: () => members.map((one) => createCaller([one], clock)),
  };
}

/** Collects answers until all are in, or `lateMs` after the first one. */
async function inTime<T>(
  members: readonly Member[],
  lateMs: number,
  ask: (member: Member, signal: AbortSignal) => Promise<T>,
): Promise<readonly Said<T>[]> {
  const said = new Map<Member, Said<T>>();
  const ending = new AbortController();
  await new Promise<void>((done, failed) => {
    let timer: NodeJS.Timeout | undefined;
    const hear = (member: Member, one: Said<T>) => {
      said.set(member, one);
      if (one.kind === 'answer') timer ??= setTimeout(done, lateMs);
      if (said.size < members.length) return;
      clearTimeout(timer);
      done();
    };
    if (members.length === 0) done();
    for (const member of members) {
      const { host } = member;
      ask(member, ending.signal).then(
        (answer) => hear(member, { host, kind: 'answer', answer }),
        (error: unknown) => {
          if (error instanceof RpcRefusal) hear(member, { host, kind: 'refusal', refusal: error });
          else if (error instanceof NoAnswer) hear(member, { host, kind: 'silence', pauseMs: error.pauseMs });
          else failed(error);
        },
      );
    }
  });
  for (const member of members) if (!said.has(member)) member.leaveAside('it is slow');
  const heard = [...said.values()];
  ending.abort();
  return heard;
}

/** The requested pause, else a longer one with each attempt. */
export const pauseMs = (askedMs: number | null, attempt: number): number =>
  askedMs === null ? retryDelayMs(PAUSES, attempt) : Math.min(askedMs, LONGEST_ASKED_PAUSE_MS);

const unreachable = (host: string, cause: unknown): Problem =>
  problem('cluster_failed', { message: `Can't reach ${host}.`, fix: 'Check your connection or --rpc-url.', cause });

export const silent = (method: string, why: string, askedMs: number | null = null): Problem =>
  problem('cluster_failed', {
    message: `The Solana cluster gave no usable answer to ${method}: ${why}.`,
    detail: { method },
    ...(askedMs === null ? {} : { retryAfter: askedMs / 1000 }),
  });
