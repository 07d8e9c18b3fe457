import type { Address } from '@solana/kit';
import type { Cluster, SignatureStatus } from '../../../src/solana/cluster.ts';
import type { EmbeddedCluster } from '../../../src/solana/embedded/open.ts';
import { createJsonRpc } from '../../../src/solana/json-rpc/index.ts';
import { signatureOf } from '../../../src/solana/transaction.ts';
import type { Process } from '../world/computer.ts';
import type { World } from '../world/world.ts';

/** Addresses of one cluster. What one does not answer the other may. */
export const HOSTS = ['http://rpc-1.sim/', 'http://rpc-2.sim/'] as const;

const CONFIRMED_AFTER_MS = 800;
const FINAL_AFTER_MS = 13_000;
const FINAL_SLOTS = 32;
const LONGEST_LATE_MS = 90_000;
/** A node that is restored knows nothing of the last minutes for so long. */
const LONGEST_AMNESIA_MS = 150_000;
const GHOST_MS = 6_000;
/** All addresses are sent the same within so long; the next round comes later. */
const BROADCAST_MS = 1_200;

const CALL_FAULTS = {
  request_lost: 0.003,
  answer_lost: 0.003,
  slow: 0.002,
  busy: 0.002,
  away: 0.002,
  torn: 0.002,
  behind: 0.003,
  not_reached: 0.002,
  old: 0.004,
};
const SEND_FAULTS = { swallowed: 0.03, late: 0.03, dropped_fork: 0.025 };
const LANDED_FAULTS = { forgotten: 0.02, forgotten_with_history: 0.012 };
const HOST_FAULTS = { down: 0.04 };
const MINUTE_MS = 60_000;

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}
interface Answer {
  result?: unknown;
  error?: unknown;
}
type Status = { slot: number; err: unknown; confirmationStatus: string; confirmations: number | null } | null;

/**
 * The JSON-RPC of a real cluster, as far as it can be told from one: LiteSVM executes, and between it and whoever asks
 * lies what a network of nodes does. Sends are lost or land late, what is processed may vanish with its fork, confirmed
 * comes before finalized, nodes lag, forget, break down and are busy.
 */
export function createChain(world: World, ledger: EmbeddedCluster, namesOf: (address: string) => string) {
  const { chance } = world;
  const rpc = createJsonRpc(ledger);
  const landedAtMs = new Map<string, number>();
  const ghosts = new Map<string, number>();
  const fates = new Map<string, { fate: string | null; untilMs: number }>();
  const forgotten = new Map<string, { untilMs: number; history: boolean }>();
  const earlier = new Map<string, { atMs: number; answer: Answer }>();
  const landings: ((signature: string, by: string) => void)[] = [];
  const sends: ((signature: string, by: string) => void)[] = [];

  async function honest(call: Call): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, method: call.method, params: call.params });
    const answer = await rpc({ method: 'POST', url: HOSTS[0], headers: {}, body });
    return JSON.parse(answer.body ?? '{}') as Answer;
  }

  const isForgotten = (signature: string, inHistory = false): boolean => {
    const gap = forgotten.get(signature);
    return gap !== undefined && world.now() < gap.untilMs && (!inHistory || gap.history);
  };
  const ageOf = (signature: string): number => world.now() - (landedAtMs.get(signature) ?? Number.NEGATIVE_INFINITY);

  /** Executes bytes, and tells what moved. */
  async function land(call: Call, by: string): Promise<Answer> {
    const signature = signatureOf(bytesOf(call));
    const isNew = ledger.ledger.landed(signature) === null;
    const answer = await honest(call);
    const landed = ledger.ledger.landed(signature);
    if (!landed || !isNew) return answer;
    landedAtMs.set(signature, world.now());
    world.touched('chain');
    world.tell(
      'chain',
      `${by} lands ${signature.slice(0, 6)}${landed.err === null ? '' : ' (it fails)'}: ${movesOf(landed.meta, namesOf)}`,
    );
    for (const heard of landings) heard(signature, by);
    const what = chance.happens('memory', chance.numbered(`${by} landed`), LANDED_FAULTS);
    if (what !== null) {
      const history = what === 'forgotten_with_history';
      const forMs = 10_000 + chance.part(`amnesia ${by} ${landedAtMs.size}`) * LONGEST_AMNESIA_MS;
      forgotten.set(signature, { untilMs: world.now() + forMs, history });
      world.tell(
        'chain',
        `the nodes forget ${signature.slice(0, 6)} for ${Math.round(forMs / 1000)} s${history ? ', its history too' : ''}`,
      );
    }
    return answer;
  }

  async function send(call: Call, by: string): Promise<Answer> {
    const signature = signatureOf(bytesOf(call));
    if (isForgotten(signature)) return { result: signature };
    const place = chance.numbered(`${by} send`);
    const before = fates.get(signature);
    const isSame = before !== undefined && world.now() < before.untilMs;
    // Every address gets the same bytes at once: what befalls them befalls them all.
    const fate = isSame ? before.fate : landedAtMs.has(signature) ? null : chance.happens('send', place, SEND_FAULTS);
    if (!isSame) fates.set(signature, { fate, untilMs: world.now() + BROADCAST_MS });
    if (isSame && fate !== null) return { result: signature };
    if (fate === null) return land(call, by);
    world.tell('chain', `${by}'s ${signature.slice(0, 6)} is ${fate.replace('_', ' on a ')}`);
    if (fate === 'dropped_fork') ghosts.set(signature, world.now() + 500 + chance.part(place) * GHOST_MS);
    if (fate === 'late') world.after(500 + chance.part(place) * LONGEST_LATE_MS, () => void land(call, by));
    return { result: signature };
  }

  const statusNow = (signature: string, status: Status): Status => {
    if (isForgotten(signature)) return null;
    if (status) {
      const age = ageOf(signature);
      const confirmationStatus =
        age < CONFIRMED_AFTER_MS ? 'processed' : age < FINAL_AFTER_MS ? 'confirmed' : 'finalized';
      return { ...status, confirmationStatus, confirmations: confirmationStatus === 'finalized' ? null : 1 };
    }
    if (world.now() >= (ghosts.get(signature) ?? 0)) return null;
    return { slot: ledger.ledger.peek().slot, err: null, confirmationStatus: 'processed', confirmations: 0 };
  };

  async function answer(call: Call, by: string): Promise<Answer> {
    if (call.method === 'sendTransaction') return send(call, by);
    const said = await honest(call);
    const { result } = said;
    if (call.method === 'getSignatureStatuses' && isRecord(result)) {
      const asked = call.params[0] as string[];
      result.value = asked.map((one, place) => statusNow(one, (result.value as Status[])[place] ?? null));
    }
    if (call.method === 'getTransaction') {
      const signature = String(call.params[0]);
      if (isForgotten(signature) || ageOf(signature) < CONFIRMED_AFTER_MS) said.result = null;
    }
    if (call.method === 'getSignaturesForAddress' && Array.isArray(result)) {
      said.result = (result as { signature: string }[]).filter(
        ({ signature }) => !isForgotten(signature, true) && ageOf(signature) >= CONFIRMED_AFTER_MS,
      );
    }
    const how = call.params.at(-1);
    if (isRecord(how) && how.commitment === 'finalized' && isRecord(result)) {
      for (const name of ['absoluteSlot', 'blockHeight']) {
        if (typeof result[name] === 'number') result[name] = Math.max(0, result[name] - FINAL_SLOTS);
      }
      if (isRecord(result.context)) result.context.slot = Math.max(0, Number(result.context.slot) - FINAL_SLOTS);
    }
    return said;
  }

  /** What the call gets instead of its answer, and the answer where nothing is wrong. */
  async function exchange(call: Call, host: string, by: string, place: string): Promise<Reply> {
    const minute = Math.floor(world.now() / MINUTE_MS) % 1_000_000;
    if (chance.happens('host', `${host} minute ${minute}`, HOST_FAULTS)) throw lost();
    const fault = chance.happens('rpc', place, CALL_FAULTS);
    if (fault === 'request_lost') throw lost();
    if (fault === 'busy') return { status: 429, text: 'slow down', retryAfter: '1' };
    if (fault === 'away') return { status: 503, text: '<html>', retryAfter: null };
    if (fault === 'behind') return failure(call, -32005, 'Node is behind by 42 slots');
    if (fault === 'not_reached') return failure(call, -32016, 'Minimum context slot has not been reached');
    if (fault === 'slow') await world.sleep(300 + chance.part(place) * 17_000);
    const question = `${call.method} ${JSON.stringify(call.params)}`;
    const before = earlier.get(question);
    if (fault === 'old' && before) return { status: 200, text: envelope(call, before.answer), retryAfter: null };
    const said = await answer(call, by);
    if (fault === 'answer_lost') throw lost();
    if (!before || world.now() - before.atMs > 5_000) earlier.set(question, { atMs: world.now(), answer: said });
    const text = envelope(call, said);
    return { status: 200, text: fault === 'torn' ? text.slice(0, text.length / 2) : text, retryAfter: null };
  }

  return {
    ledger,
    /** Called before a transaction leaves the process that sends it. */
    onSend: (heard: (signature: string, by: string) => void) => void sends.push(heard),
    onLanding: (heard: (signature: string, by: string) => void) => void landings.push(heard),
    statusOf: (signature: string): SignatureStatus['confirmation'] | null =>
      landedAtMs.has(signature) ? (ageOf(signature) < FINAL_AFTER_MS ? 'confirmed' : 'finalized') : null,
    /** The ledger in the same process: nothing comes between. */
    embeddedOf: (process: Process): Cluster =>
      new Proxy<Cluster>(ledger, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...given: unknown[]) =>
            process.boundary(`chain ${String(name)}`, async () => {
              const result: unknown = await value.apply(target, given);
              if (name === 'send') for (const heard of landings) heard(String(result), process.name);
              return result;
            });
        },
      }),
    /** The cluster as a process asks for it. */
    fetchOf: (process: Process): typeof fetch => {
      const by = process.name.split('/')[0] ?? process.name;
      const asked = async (url: unknown, init?: RequestInit): Promise<Response> => {
        const { host } = new URL(String(url));
        const call = JSON.parse(String(init?.body)) as Call;
        if (call.method === 'sendTransaction' && process.isAlive()) {
          for (const heard of sends) heard(signatureOf(bytesOf(call)), process.name);
        }
        const place = chance.numbered(`${process.name} ${call.method}`);
        const reply = await process.boundary(
          `rpc ${call.method}`,
          () => untilAborted(init?.signal, exchange(call, host, by, place)),
          { mostMs: 12 },
        );
        return responseOf(reply);
      };
      return asked as typeof fetch;
    },
  };
}

export type Chain = ReturnType<typeof createChain>;

interface Reply {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

/** As much of a response as JSON-RPC's clients read: the platform's own is read through streams. */
const responseOf = ({ status, text, retryAfter }: Reply): Response =>
  ({
    status,
    ok: status < 300,
    statusText: '',
    headers: new Headers(retryAfter === null ? {} : { 'retry-after': retryAfter }),
    text: async () => text,
    json: async () => JSON.parse(text),
  }) as unknown as Response;

const lost = () => new TypeError('fetch failed');
const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const bytesOf = ({ params }: Call): Uint8Array => new Uint8Array(Buffer.from(String(params[0]), 'base64'));
const envelope = ({ id }: Call, { result, error }: Answer): string =>
  JSON.stringify(error === undefined ? { jsonrpc: '2.0', id, result } : { jsonrpc: '2.0', id, error });
const failure = (call: Call, code: number, message: string): Reply => ({
  status: 200,
  text: envelope(call, { error: { code, message } }),
  retryAfter: null,
});

function untilAborted<T>(signal: AbortSignal | null | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = () => reject(new TypeError('fetch failed', { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

interface Moved {
  readonly preTokenBalances?: readonly Held[];
  readonly postTokenBalances?: readonly Held[];
}
interface Held {
  readonly owner?: string | Address;
  readonly uiTokenAmount?: { readonly amount: string };
  readonly amount?: string;
}

/** `ann -0.10, treasury +0.10`. */
function movesOf(meta: unknown, namesOf: (address: string) => string): string {
  const { preTokenBalances = [], postTokenBalances = [] } = meta as Moved;
  const sums = new Map<string, bigint>();
  const add = (held: readonly Held[], sign: bigint) => {
    for (const one of held) {
      const name = namesOf(String(one.owner));
      const amount = BigInt(one.uiTokenAmount?.amount ?? one.amount ?? 0);
      sums.set(name, (sums.get(name) ?? 0n) + sign * amount);
    }
  };
  add(preTokenBalances, -1n);
  add(postTokenBalances, 1n);
  const moved = [...sums].filter(([, sum]) => sum !== 0n);
  const shown = moved.map(([name, sum]) => `${name} ${sum > 0n ? '+' : ''}${Number(sum) / 1e6}`);
  return shown.length === 0 ? 'no USDC moves' : shown.join(', ');
}
