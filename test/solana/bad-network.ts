import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RpcAnswer, type RpcCall, seeded, sentSignature, told } from './lying-rpc.ts';

/**
 * A bad network before the JSON-RPC of a real cluster, over real sockets: it loses, delays, tears, doubles and swaps
 * what passes, is busy and behind, answers of old slots, forgets what landed, and shows blocks that are dropped. What
 * befalls the n-th call of a method is the same in every run with the same seed.
 */

const SWALLOWED_MS = 1_000;
const FORK_LIVES_MS = 1_200;
const FORGOTTEN_MS = 2_500;
const LONGEST_DELAY_MS = 800;
const LONGEST_HOLD_MS = 400;

interface Exchange {
  readonly call: RpcCall;
  /** Hands the call to the cluster, as often as it is called. */
  readonly forward: () => Promise<string>;
  readonly outgoing: ServerResponse;
  /** 0 to 1. */
  readonly chance: () => number;
  /** An earlier answer to the same question, with the id of this one. */
  readonly earlier: () => string | null;
  /** Waits until another answer has passed, or for a moment. */
  readonly overtaken: () => Promise<void>;
}
type Fault = (exchange: Exchange) => Promise<unknown>;

const say = (outgoing: ServerResponse, text: string) =>
  outgoing.writeHead(200, { 'content-type': 'application/json' }).end(text);
const refuse =
  (code: number, message: string): Fault =>
  async ({ call, outgoing }) =>
    say(outgoing, JSON.stringify({ jsonrpc: '2.0', id: call.id, error: { code, message } }));
const html =
  (status: number, headers: Record<string, string> = {}): Fault =>
  async ({ outgoing }) =>
    outgoing.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html><h1>Sorry</h1>');

const FAULTS = {
  request_lost: async ({ outgoing }) => outgoing.destroy(),
  answer_lost: async ({ forward, outgoing }) => {
    await forward();
    outgoing.destroy();
  },
  delayed: async ({ forward, outgoing, chance }) => {
    const text = await forward();
    await sleep(chance() * LONGEST_DELAY_MS);
    say(outgoing, text);
  },
  torn: async ({ forward, outgoing, chance }) => {
    const text = await forward();
    say(outgoing, text.slice(0, Math.floor(text.length * chance())));
  },
  cut: async ({ forward, outgoing }) => {
    const text = await forward();
    outgoing.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.length / 2));
    await sleep(5);
    outgoing.destroy();
  },
  doubled: async ({ forward, outgoing }) => {
    const [text] = await Promise.all([forward(), forward()]);
    say(outgoing, text);
  },
  overtaken: async ({ forward, outgoing, overtaken }) => {
    const text = await forward();
    await overtaken();
    say(outgoing, text);
  },
  anothers: async ({ call, forward, outgoing }) => {
    const answer = JSON.parse(await forward()) as RpcAnswer;
    say(outgoing, JSON.stringify({ ...answer, id: call.id + 1 }));
  },
  old: async ({ forward, outgoing, earlier }) => say(outgoing, earlier() ?? (await forward())),
  busy: html(429, { 'retry-after': '1' }),
  away: html(503, { 'retry-after': '1' }),
  gateway: html(502),
  page: html(200),
  behind: refuse(-32005, 'Node is behind by 42 slots'),
  slot_not_reached: refuse(-32016, 'Minimum context slot has not been reached'),
  broken: refuse(-32603, 'Internal error'),
} satisfies Record<string, Fault>;
const NAMES = Object.keys(FAULTS) as (keyof typeof FAULTS)[];

/** What befalls a transaction: its first copies go nowhere, its first block is dropped, or it is forgotten for a while. */
const FATES = ['swallowed', 'dropped fork', 'forgotten'] as const;
interface Fate {
  readonly kind: (typeof FATES)[number] | 'none';
  readonly untilMs: number;
}
const LASTS_MS = { swallowed: SWALLOWED_MS, 'dropped fork': FORK_LIVES_MS, forgotten: FORGOTTEN_MS, none: 0 };

export async function openBadNetwork(upstream: string, seed: number, share = { faults: 0.2, fates: 0.3 }) {
  const chances = new Map<string, () => number>();
  const chanceOf = (method: string): (() => number) => {
    const known =
      chances.get(method) ??
      seeded(seed * 1_000 + ([...method].reduce((sum, one) => sum * 31 + one.charCodeAt(0), 7) % 997));
    chances.set(method, known);
    return known;
  };
  const fates = new Map<string, Fate>();
  const befell = new Map<string, number>();
  const count = (name: string) => befell.set(name, (befell.get(name) ?? 0) + 1);
  const answers = new Map<string, RpcAnswer>();
  const holding = new Set<() => void>();

  const isUnder = (signature: unknown, kind: Fate['kind']): boolean => {
    const fate = fates.get(String(signature));
    return fate?.kind === kind && performance.now() < fate.untilMs;
  };

  /** The fate of what is sent, decided by its first copy. @returns true where this copy goes nowhere */
  function isHeldBack(call: RpcCall): boolean {
    const signature = sentSignature(call);
    const known = fates.get(signature);
    if (known) return performance.now() < known.untilMs;
    const chance = chanceOf('fate');
    const kind = chance() < share.fates ? (FATES[Math.floor(chance() * FATES.length)] ?? 'none') : 'none';
    fates.set(signature, { kind, untilMs: performance.now() + LASTS_MS[kind] });
    if (kind !== 'none') count(kind);
    return kind === 'swallowed' || kind === 'dropped fork';
  }

  /** Changes what the cluster says of transactions that have met their fate. */
  function distort(call: RpcCall, answer: RpcAnswer): void {
    const isGone = (signature: unknown) => isUnder(signature, 'forgotten');
    if (call.method === 'getTransaction' && isGone(call.params[0])) answer.result = null;
    if (call.method === 'getSignaturesForAddress' && Array.isArray(answer.result)) {
      answer.result = answer.result.filter(({ signature }: { signature: string }) => !isGone(signature));
    }
    if (call.method === 'getSignatureStatuses' && answer.result !== undefined) {
      const asked = call.params[0] as string[];
      const status = told(answer);
      status.value = status.value.map((one, place) => {
        if (isGone(asked[place])) return null;
        if (!isUnder(asked[place], 'dropped fork')) return one;
        const { slot } = status.context;
        return { slot, confirmations: 0, err: null, status: { Ok: null }, confirmationStatus: 'processed' };
      });
    }
  }

  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const call = JSON.parse(body) as RpcCall;
    const question = JSON.stringify([call.method, call.params]);
    const forward = async (): Promise<string> => {
      if (call.method === 'sendTransaction' && isHeldBack(call)) {
        return JSON.stringify({ jsonrpc: '2.0', id: call.id, result: sentSignature(call) });
      }
      const headers = { 'content-type': 'application/json' };
      const text = await (await fetch(upstream, { method: 'POST', headers, body })).text();
      const answer = JSON.parse(text) as RpcAnswer;
      if (!answers.has(question) && text.includes('"context"')) answers.set(question, answer);
      // Numbers of more than 53 bits stay as they were written.
      if (!/^get(Transaction|Signature)/.test(call.method)) return text;
      distort(call, answer);
      return JSON.stringify(answer);
    };
    const chance = chanceOf(call.method);
    const fault = chance() < share.faults ? NAMES[Math.floor(chance() * NAMES.length)] : undefined;
    if (fault) count(fault);
    const tell: Fault = fault === undefined ? async (one) => say(one.outgoing, await one.forward()) : FAULTS[fault];
    await tell({
      call,
      forward,
      outgoing,
      chance,
      earlier: () => {
        const before = answers.get(question);
        return before ? JSON.stringify({ ...before, id: call.id }) : null;
      },
      overtaken: () =>
        new Promise<void>((pass) => {
          holding.add(pass);
          setTimeout(pass, LONGEST_HOLD_MS);
        }),
    }).catch(() => outgoing.destroy());
    for (const pass of holding) pass();
    holding.clear();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    /** How often each fault has befallen a call, and each fate a transaction. */
    befell: befell as ReadonlyMap<string, number>,
    /** Every fault and fate that there is. */
    all: [...NAMES, ...FATES],
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** An address that takes connections and never answers. */
export async function openSilence() {
  let asked = 0;
  const server = createServer(() => void asked++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Passes everything on to `url`, and counts. @param isDead hangs up instead, at once */
export async function openCounted(url: string, { isDead = false } = {}) {
  let asked = 0;
  const server = createServer(async (incoming, outgoing) => {
    asked++;
    if (isDead) return void incoming.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: Buffer.concat(chunks) });
    outgoing.writeHead(answer.status, headers).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    asked: () => asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
