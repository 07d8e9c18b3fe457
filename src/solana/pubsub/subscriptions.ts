import type { Address, Signature } from '@solana/kit';
import * as z from 'zod';
import {
  type AccountConfig,
  accountConfig,
  accountEncoding,
  addressParam,
  config,
  dataSlice,
  INTERNAL_ERROR,
  invalidParams,
  JsonRpcError,
  METHOD_NOT_FOUND,
  type Method,
  matcherOf,
  method,
  programFilters,
  signatureParam,
  toJson,
  type WrittenJson,
} from '../json-rpc/index.ts';

/** The events that a subscriber asks for. */
type Wanted =
  | { readonly kind: 'slot' | 'root' | 'slotsUpdates' }
  | { readonly kind: 'signature'; readonly signature: Signature; readonly isReceivedTold: boolean }
  | { readonly kind: 'account'; readonly address: Address; readonly view: AccountConfig }
  | {
      readonly kind: 'program';
      readonly program: Address;
      readonly view: AccountConfig;
      readonly matches: (data: Uint8Array) => boolean;
    }
  /** null: of every transaction. */
  | { readonly kind: 'logs'; readonly mentions: Address | null };

type Kind = Wanted['kind'];

const programConfig = z.looseObject({ encoding: accountEncoding, dataSlice, filters: programFilters }).optional();

const signatureConfig = z.looseObject({ enableReceivedNotification: z.boolean().nullish() }).optional();

const logsFilter = z.union([
  z.enum(['all', 'allWithVotes']),
  z.object({ mentions: z.array(addressParam).length(1, 'Only 1 address supported') }),
]);

const nothing = (kind: 'slot' | 'root' | 'slotsUpdates') => method(z.tuple([]), (): Wanted => ({ kind }));

const READ: Readonly<Record<Kind, Method>> = {
  slot: nothing('slot'),
  root: nothing('root'),
  slotsUpdates: nothing('slotsUpdates'),
  signature: method(
    z.tuple([signatureParam, signatureConfig]),
    (signature, options): Wanted => ({
      kind: 'signature',
      signature,
      isReceivedTold: options?.enableReceivedNotification ?? false,
    }),
  ),
  account: method(
    z.tuple([addressParam, accountConfig]),
    (address, view): Wanted => ({ kind: 'account', address, view }),
  ),
  program: method(
    z.tuple([addressParam, programConfig]),
    (program, options): Wanted => ({ kind: 'program', program, view: options, matches: matcherOf(options?.filters) }),
  ),
  logs: method(
    z.tuple([logsFilter, config]),
    (filter): Wanted => ({ kind: 'logs', mentions: typeof filter === 'string' ? null : (filter.mentions[0] ?? null) }),
  ),
};

/** Subscriptions of a validator that one node without votes can't offer. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  block: 'blockSubscribe is not offered here: subscribe to slots, and ask getBlock',
  vote: 'voteSubscribe is not offered here: this cluster has one node, and no votes',
};

type PubSubCall = { readonly end: number } | { readonly begin: Wanted; readonly asked: string };

/** Reads a call. @throws JsonRpcError */
export function readCall(name: string, params: unknown): PubSubCall {
  const [, kind = '', way] = /^([a-zA-Z]+)(Subscribe|Unsubscribe)$/.exec(name) ?? [];
  const read = Object.hasOwn(READ, kind) ? READ[kind as Kind] : undefined;
  if (!read) throw new JsonRpcError(METHOD_NOT_FOUND, NOT_OFFERED[kind] ?? 'Method not found');
  const given = params ?? [];
  if (!Array.isArray(given)) throw invalidParams('`params` should have at most an array');
  if (way === 'Subscribe') return { begin: read(given) as Wanted, asked: `${kind} ${JSON.stringify(given)}` };
  const [id] = given as unknown[];
  if (given.length !== 1 || !Number.isSafeInteger(id)) throw invalidParams('not the number of a subscription');
  return { end: id as number };
}

/** A client at the other end of a connection. */
export interface Peer {
  /** Whose connection it is: connections of one client share its subscriptions. */
  readonly client: string;
  send(text: string): void;
}

export interface Subscription {
  readonly id: number;
  readonly peer: Peer;
  readonly wanted: Wanted;
  /** The call that asked for it, as text: the same call again is the same subscription. */
  readonly asked: string;
  /** Notifications that wait for their turn behind the answer; null once they need not. */
  held: string[] | null;
}

const MOST_OF_A_PEER = 100;
const MOST_OF_A_CLIENT = 1_000;
const MOST = 10_000;

/**
 * From an answer to the first notification. A client learns of its subscription from the answer, and drops what it
 * cannot place yet: both may not come in one turn of its loop.
 */
const HELD_MS = 10;

/** The subscriptions of every connection, found by what they wait for. */
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
    const key = keyOf(subscription.wanted);
    const those = byKey.get(key);
    if (!those?.delete(subscription)) return;
    if (those.size === 0) byKey.delete(key);
    ofPeers.get(subscription.peer)?.delete(subscription.id);
    count(subscription, -1);
  };

  return {
    /**
     * Begins a subscription; the one that a connection has already is answered again, as a validator does.
     * @throws JsonRpcError where the connection, its client or all together have as many as they may
     */
    begin(peer: Peer, asked: string, wanted: Wanted): Subscription {
      const own = ofPeers.get(peer) ?? new Map<number, Subscription>();
      const known = [...own.values()].find((one) => one.asked === asked);
      if (known) return known;
      const ofClient = ofClients.get(peer.client) ?? 0;
      if (own.size >= MOST_OF_A_PEER || ofClient >= MOST_OF_A_CLIENT || all >= MOST)
        throw new JsonRpcError(INTERNAL_ERROR, 'Internal Error: Subscription refused. Node subscription limit reached');
      lastId++;
      const subscription: Subscription = { id: lastId, peer, wanted, asked, held: [] };
      own.set(lastId, subscription);
      ofPeers.set(peer, own);
      const key = keyOf(wanted);
      byKey.set(key, (byKey.get(key) ?? new Set()).add(subscription));
      count(subscription, 1);
      setTimeout(() => {
        for (const text of subscription.held ?? []) peer.send(text);
        subscription.held = null;
      }, HELD_MS);
      return subscription;
    },
    /** @returns false where the connection has none of that number */
    end(peer: Peer, id: number): boolean {
      const subscription = ofPeers.get(peer)?.get(id);
      if (subscription) forget(subscription);
      return subscription !== undefined;
    },
    forget,
    /** Forgets a connection and all that it waited for. */
    leave(peer: Peer): void {
      for (const subscription of ofPeers.get(peer)?.values() ?? []) {
        subscription.held = null;
        forget(subscription);
      }
      ofPeers.delete(peer);
    },
    /** A copy: what is told may end what is told. */
    waitingFor: (wanted: Key): Subscription[] => [...(byKey.get(keyOf(wanted)) ?? [])],
    countOf: (kind: Kind): number => counts.get(kind) ?? 0,
    of: (peer: Peer): number => ofPeers.get(peer)?.size ?? 0,
    isEmpty: () => byKey.size === 0,
  };
}

/** The part of a subscription that it is found by. */
type Key =
  | { readonly kind: 'slot' | 'root' | 'slotsUpdates' }
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'account'; readonly address: string }
  | { readonly kind: 'program'; readonly program: string }
  | { readonly kind: 'logs'; readonly mentions: string | null };

function keyOf(wanted: Key): string {
  switch (wanted.kind) {
    case 'signature':
      return `signature ${wanted.signature}`;
    case 'account':
      return `account ${wanted.address}`;
    case 'program':
      return `program ${wanted.program}`;
    case 'logs':
      return `logs ${wanted.mentions ?? ''}`;
    default:
      return wanted.kind;
  }
}

/** Notifies one subscriber; the result is written once for all of them. */
export function tell(subscription: Subscription, result: WrittenJson): void {
  const { id, wanted, peer, held } = subscription;
  const params = { result, subscription: id };
  const text = toJson({ jsonrpc: '2.0', method: `${wanted.kind}Notification`, params });
  if (held) held.push(text);
  else peer.send(text);
}
