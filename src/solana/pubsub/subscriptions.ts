import * as z from 'zod';
import type { AccountConfig, Method, WrittenJson } from '../json-rpc/index.ts';
import {
  accountConfig,
  accountEncoding,
  addressParam,
  config,
  dataSlice,
  invalidParams,
  JsonRpcError,
  matcherOf,
  method,
  programFilters,
  signatureParam,
  toJson,
} from '../json-rpc/index.ts';

type Kind = 'slot' | 'root' | 'slotsUpdates' | 'signature' | 'account' | 'program' | 'logs';

interface Wanted {
  readonly kind: Kind;
  /** A signature or an address; empty: all. */
  readonly about: string;
  readonly view?: AccountConfig;
  /** Filters a program's accounts. */
  readonly matches?: (data: Uint8Array) => boolean;
  readonly isReceivedTold?: boolean;
}

const programConfig = z.looseObject({ encoding: accountEncoding, dataSlice, filters: programFilters }).optional();

const signatureConfig = z.looseObject({ enableReceivedNotification: z.boolean().nullish() }).optional();

const logsFilter = z.union([
  z.enum(['all', 'allWithVotes']),
  z.object({ mentions: z.array(addressParam).length(1, 'Only 1 address supported') }),
]);

const all = (kind: Kind) => method(z.tuple([]), (): Wanted => ({ kind, about: '' }));

const READ: Readonly<Record<Kind, Method>> = {
  slot: all('slot'),
  root: all('root'),
  slotsUpdates: all('slotsUpdates'),
  signature: method(z.tuple([signatureParam, signatureConfig]), (about, options): Wanted => {
    return { kind: 'signature', about, isReceivedTold: options?.enableReceivedNotification ?? false };
  }),
  account: method(z.tuple([addressParam, accountConfig]), (about, view): Wanted => ({ kind: 'account', about, view })),
  program: method(z.tuple([addressParam, programConfig]), (about, view): Wanted => {
    return { kind: 'program', about, view, matches: matcherOf(view?.filters) };
  }),
  logs: method(z.tuple([logsFilter, config]), (filter): Wanted => {
    return { kind: 'logs', about: typeof filter === 'string' ? '' : (filter.mentions[0] ?? '') };
  }),
};

/** Subscriptions that a node without votes can't offer. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  block: 'blockSubscribe is not offered here: subscribe to slots, and ask getBlock',
  vote: 'voteSubscribe is not offered here: this cluster has one node, and no votes',
};

export function readCall(name: string, params: unknown) {
  const [, kind = '', way] = /^([a-zA-Z]+)(Subscribe|Unsubscribe)$/.exec(name) ?? [];
  const read = Object.hasOwn(READ, kind) ? READ[kind as Kind] : undefined;
  if (!read) throw new JsonRpcError('method_not_found', NOT_OFFERED[kind] ?? 'Method not found');
  const given = params ?? [];
  if (!Array.isArray(given)) throw invalidParams('`params` should have at most an array');
  if (way === 'Subscribe') return { begin: read(given) as Wanted, asked: `${kind} ${JSON.stringify(given)}` };
  const [id] = given as unknown[];
  if (given.length !== 1 || !Number.isSafeInteger(id)) throw invalidParams('not the number of a subscription');
  return { end: id as number };
}

export interface Peer {
  readonly client: string;
  send(text: string): void;
}

export interface Subscription {
  readonly id: number;
  readonly peer: Peer;
  readonly wanted: Wanted;
  /** The call's text: an equal call is the same subscription. */
  readonly asked: string;
  /** Notifications held back until the answer is out; null afterwards. */
  held: string[] | null;
}

const MOST_OF_A_PEER = 100;
const MOST_OF_A_CLIENT = 1_000;
const MOST = 10_000;

/** The pause before the first notification: clients drop one that comes in the event loop's turn of the answer. */
const HELD_MS = 10;

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions() {
  let lastId = 0;
  const ofPeers = new Map<Peer, Map<number, Subscription>>();
  const byKey = new Map<string, Set<Subscription>>();
  const counts = new Map<Kind, number>();
  const ofClients = new Map<string, number>();
  let all = 0;
  const count = ({ wanted: { kind }, peer: { client } }: Subscription, by: 1 | -1) => {
    all += by;
    counts.set(kind, (counts.get(kind) ?? 0) + by);
    const left = (ofClients.get(client) ?? 0) + by;
    if (left === 0) ofClients.delete(client);
    else ofClients.set(client, left);
  };

  const forget = (subscription: Subscription): void => {
    const { kind, about } = subscription.wanted;
    const key = `${kind} ${about}`;
    const those = byKey.get(key);
    if (!those?.delete(subscription)) return;
    if (those.size === 0) byKey.delete(key);
    ofPeers.get(subscription.peer)?.delete(subscription.id);
    count(subscription, -1);
  };

  return {
    /** Begins or repeats a subscription. @throws JsonRpcError where the connection, client or all have too many */
    begin(peer: Peer, asked: string, wanted: Wanted): Subscription {
      const own = ofPeers.get(peer) ?? new Map<number, Subscription>();
      const known = [...own.values()].find((one) => one.asked === asked);
      if (known) return known;
      const ofClient = ofClients.get(peer.client) ?? 0;
      if (own.size >= MOST_OF_A_PEER || ofClient >= MOST_OF_A_CLIENT || all >= MOST)
        throw new JsonRpcError(
          'internal_error',
          'Internal Error: Subscription refused. Node subscription limit reached',
        );
      lastId++;
      const subscription: Subscription = { id: lastId, peer, wanted, asked, held: [] };
      own.set(lastId, subscription);
      ofPeers.set(peer, own);
      const key = `${wanted.kind} ${wanted.about}`;
      byKey.set(key, (byKey.get(key) ?? new Set()).add(subscription));
      count(subscription, 1);
      setTimeout(() => {
        for (const text of subscription.held ?? []) peer.send(text);
        subscription.held = null;
      }, HELD_MS);
      return subscription;
    },
    /** @returns false for an unknown number */
    end(peer: Peer, id: number): boolean {
      const subscription = ofPeers.get(peer)?.get(id);
      if (subscription) forget(subscription);
      return subscription !== undefined;
    },
    forget,
    leave(peer: Peer): void {
      for (const subscription of ofPeers.get(peer)?.values() ?? []) {
        subscription.held = null;
        forget(subscription);
      }
      ofPeers.delete(peer);
    },
    /** A copy, since a notification may end its subscription. */
    waitingFor: (kind: Kind, about = ''): Subscription[] => [...(byKey.get(`${kind} ${about}`) ?? [])],
    countOf: (kind: Kind): number => counts.get(kind) ?? 0,
    of: (peer: Peer): number => ofPeers.get(peer)?.size ?? 0,
    isEmpty: () => byKey.size === 0,
  };
}

/** Notifies with a result that was encoded once for all. */
export function tell(subscription: Subscription, result: WrittenJson): void {
  const { id, wanted, peer, held } = subscription;
  const params = { result, subscription: id };
  const text = toJson({ jsonrpc: '2.0', method: `${wanted.kind}Notification`, params });
  if (held) held.push(text);
  else peer.send(text);
}
