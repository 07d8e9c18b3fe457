import { type Log, silentLog } from '../../kernel/log.ts';
import { storageFields } from '../../store/index.ts';
import type { EmbeddedLedger, LandedTransaction } from '../embedded/index.ts';
import {
  type Call,
  createTurns,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isCall,
  JsonRpcError,
  PARSE_ERROR,
  parseJson,
  toJson,
} from '../json-rpc/index.ts';
import { createTeller, settle } from './notifications.ts';
import { createSubscriptions, type Peer, readCall } from './subscriptions.ts';

export type { Peer } from './subscriptions.ts';

/** A connection to the subscriptions. */
export interface Line {
  /** Takes a message. It is answered by the peer's `send`, before this returns. */
  receive(text: string): Promise<void>;
  /** How many subscriptions it has. */
  count(): number;
  /** The peer has gone. */
  end(): void;
}

export interface PubSub {
  connect(peer: Peer): Line;
  /** Stops looking at the ledger. */
  close(): void;
}

/**
 * Solana's subscriptions (https://solana.com/docs/rpc/websocket) for the embedded cluster. All commitments are alike
 * here: what has landed is final, and is told of once.
 */
export function createPubSub(ledger: EmbeddedLedger, { log = silentLog }: { readonly log?: Log } = {}): PubSub {
  const turns = createTurns();
  const subscriptions = createSubscriptions();
  const feed = createFeed(ledger, log, createTeller(ledger, subscriptions, turns));

  /** @returns the answer's result. Whatever has happened already is told right behind it. */
  const call = (peer: Peer, name: string, params: unknown): number | true => {
    const read = readCall(name, params);
    if ('end' in read) {
      if (!subscriptions.end(peer, read.end)) throw new JsonRpcError(INVALID_PARAMS, 'Invalid subscription id.');
      return true;
    }
    // Before the look at what has landed: from then on the feed tells.
    feed.start();
    const subscription = subscriptions.begin(peer, read.asked, read.begin);
    if (read.begin.kind === 'signature') {
      const landed = ledger.landing(read.begin.signature);
      if (landed) settle(subscriptions, subscription, landed);
    }
    return subscription.id;
  };

  const answer = (peer: Peer, request: Call): object => {
    try {
      return { result: call(peer, request.method, request.params) };
    } catch (error) {
      if (error instanceof JsonRpcError) return { error: { code: error.code, message: error.message } };
      log('error', 'subscription_call_failed', { method: request.method, ...storageFields(error) });
      return { error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    }
  };

  return {
    connect: (peer) => ({
      receive: (text) =>
        turns.run(() => {
          const reply = (body: object, id: Call['id']) => peer.send(toJson({ jsonrpc: '2.0', ...body, id }));
          const request = parseJson(text);
          if (request === undefined) reply({ error: { code: PARSE_ERROR, message: 'Parse error' } }, null);
          else if (!isCall(request)) reply({ error: { code: INVALID_REQUEST, message: 'Invalid request' } }, null);
          // The pings of web3.js and kit are notifications, which get no answer.
          else if (request.id !== undefined) reply(answer(peer, request), request.id);
        }),
      count: () => subscriptions.of(peer),
      end: () => subscriptions.leave(peer),
    }),
    close: () => feed.stop(),
  };
}

/** How often the ledger is looked at, while somebody is subscribed. A look is one read of the last row's number. */
const LOOK_MS = 25;

const PAGE = 50;

/** After a machine slept, nobody wants to hear of every slot since. */
const MOST_SLOTS_AT_ONCE = 20;

/** Whoever is told what has happened on the ledger, in its order. */
interface Listener {
  /** True where nobody wants to be told anything. */
  isIdle(): boolean;
  landed(transactions: readonly LandedTransaction[]): Promise<void>;
  /** A slot has begun; the one before it is complete. */
  slot(slot: number): Promise<void>;
}

/** Follows the ledger. Other processes write the same file, so it is the file that is watched. */
function createFeed(ledger: EmbeddedLedger, log: Log, listener: Listener) {
  let timer: NodeJS.Timeout | null = null;
  let seen = 0;
  let toldSlot = 0;
  let isLooking = false;
  let isFailing = false;

  const tellSlots = async () => {
    const { slot } = ledger.peek();
    toldSlot = Math.max(toldSlot, slot - MOST_SLOTS_AT_ONCE);
    while (timer !== null && toldSlot < slot) {
      toldSlot++;
      await listener.slot(toldSlot);
      // One slot took longer to tell than it lasted: those behind are dropped, and transactions have their turn.
      if (ledger.peek().slot > slot) {
        toldSlot = Math.max(toldSlot, ledger.peek().slot - 1);
        return;
      }
    }
  };
  const tellTransactions = async () => {
    while (timer !== null && ledger.transactionCount() > seen) {
      const page = ledger.transactionsAfter(seen, PAGE);
      const last = page.at(-1);
      if (!last) return;
      seen = last.seq;
      await listener.landed(page);
    }
  };
  const stop = () => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const look = async () => {
    if (isLooking) return;
    if (listener.isIdle()) return stop();
    isLooking = true;
    try {
      await tellSlots();
      await tellTransactions();
      isFailing = false;
    } catch (error) {
      // The next look may go well; nobody is told of every one that does not.
      if (!isFailing) log('error', 'subscriptions_failed', storageFields(error));
      isFailing = true;
    } finally {
      isLooking = false;
    }
  };

  return {
    /** Tells of everything from now on, until nobody listens. */
    start(): void {
      if (timer !== null) return;
      seen = ledger.transactionCount();
      toldSlot = ledger.peek().slot;
      timer = setInterval(() => void look(), LOOK_MS);
    },
    stop,
  };
}
