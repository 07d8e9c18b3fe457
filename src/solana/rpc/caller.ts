import type * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { firstAnswer } from '../../kernel/first-answer.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import { type DelayPolicy, retryDelayMs } from '../../store/index.ts';
import { type Member, NoAnswer, RpcRefusal } from './member.ts';

export interface RpcCaller {
  /**
   * Calls a method and checks its result against `schema`. Asks again, at another address where there is one, and within
   * bounds, after network errors, 429 and 5xx (as late as `Retry-After` asks for), torn, foreign and older answers, and
   * refusals of a node that is behind or busy. An address that is slow or gave no answer is left aside for a while.
   * @throws Problem `cluster_failed` without an answer; RpcRefusal for a refusal of the request itself.
   */
  call: Call;
  /** The same as `call` where a refusal says nothing of interest: that is `cluster_failed` too. */
  read: Call;
  /**
   * Asks every address that is not left aside, a single time and all at once. Late ones are not waited for longer than
   * `lateMs` once one has answered.
   */
  fromEach<S extends z.ZodType>(
    method: string,
    params: readonly unknown[],
    schema: S,
    lateMs?: number,
  ): Promise<readonly Said<z.output<S>>[]>;
  /** A caller for each address alone, to compare their answers. */
  alone(): readonly RpcCaller[];
}

type Call = <S extends z.ZodType>(method: string, params: readonly unknown[], schema: S) => Promise<z.output<S>>;

export type Said<T> =
  | { readonly host: string; readonly kind: 'answer'; readonly answer: T }
  | { readonly host: string; readonly kind: 'refusal'; readonly refusal: RpcRefusal }
  | { readonly host: string; readonly kind: 'silence'; readonly pauseMs: number | null };

const TRIES = 8;
const PAUSES: DelayPolicy = { firstMs: 100, factor: 2, mostMs: 2_000, jitter: 'none' };
/** For a longer pause the caller is asked to come back. */
const LONGEST_ASKED_PAUSE_MS = 5_000;
/** Asks no more after so long: a person waits for the answer. */
const PATIENCE_MS = 20_000;
/** An address that takes longer is slow where there is another one to ask. */
const SLOW_MS = 250;

export function createCaller(members: readonly Member[], clock: Clock): RpcCaller {
  /** The members to ask now: all that are not left aside, else all, beginning with the one left longest ago. */
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
        if (isFinal || late || attempt >= TRIES) throw silent(method, error.why, error.pauseMs);
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

/** Collects the answers until all are in, or the late ones have had their time after the first. */
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

/** How long to wait before the next of several tries: as long as the node asked, else longer each time. */
export const pauseMs = (askedMs: number | null, attempt: number): number =>
  askedMs === null ? retryDelayMs(PAUSES, attempt) : Math.min(askedMs, LONGEST_ASKED_PAUSE_MS);

export const silent = (method: string, why: string, askedMs: number | null = null): Problem =>
  problem('cluster_failed', {
    message: `The Solana cluster gave no usable answer to ${method}: ${why}.`,
    detail: { method },
    ...(askedMs === null ? {} : { retryAfter: askedMs / 1000 }),
  });
