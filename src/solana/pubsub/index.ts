import type { Address } from '@solana/kit';
import { type Log, silentLog } from '../../kernel/log.ts';
import { storageFields } from '../../store/index.ts';
import { type ChainAccount, SYSTEM_PROGRAM } from '../cluster.ts';
import { changedBy, type EmbeddedLedger, type LandedTransaction } from '../embedded/index.ts';
import type { AccountConfig, Call, Turns, WrittenJson } from '../json-rpc/index.ts';
import { createTurns, encodeAccount, isCall, JsonRpcError, parseJson, toJson, written } from '../json-rpc/index.ts';
import type { Peer, Subscription, Subscriptions } from './subscriptions.ts';
import { createSubscriptions, readCall, tell } from './subscriptions.ts';

export type { Peer } from './subscriptions.ts';

export type PubSub = ReturnType<typeof createPubSub>;

export type Line = ReturnType<PubSub['connect']>;

/** Solana's subscriptions (https://solana.com/docs/rpc/websocket); a landed transaction is final and notified once. */
export function createPubSub(ledger: EmbeddedLedger, { log = silentLog }: { readonly log?: Log } = {}) {
  const turns = createTurns();
  const subscriptions = createSubscriptions();
  const feed = createFeed(ledger, log, createTeller(ledger, subscriptions, turns));

  /** @returns the answer's result; events that have already happened follow. */
  const call = (peer: Peer, name: string, params: unknown): number | true => {
    const read = readCall(name, params);
    if ('end' in read) {
      if (!subscriptions.end(peer, read.end)) throw new JsonRpcError('invalid_params', 'Invalid subscription id.');
      return true;
    }
    // Starts before looking at landed transactions, so that none is missed.
    feed.start();
    const subscription = subscriptions.begin(peer, read.asked, read.begin);
    if (read.begin.kind === 'signature') {
      const landed = ledger.landing(read.begin.about);
      if (landed) settle(subscriptions, subscription, landed);
    }
    return subscription.id;
  };

  const answer = (peer: Peer, request: Call): object => {
    try {
      return { result: call(peer, request.method, request.params) };
    } catch (error) {
      if (error instanceof JsonRpcError) return failure(error);
      log('error', 'subscription_call_failed', { method: request.method, ...storageFields(error) });
      return failure(new JsonRpcError('internal_error', 'Internal error'));
    }
  };

  return {
    connect: (peer: Peer) => ({
      /** Answers through `send` before it returns. */
      receive: (text: string): Promise<void> =>
        turns.run(() => {
          const reply = (body: object, id: Call['id']) => peer.send(toJson({ jsonrpc: '2.0', ...body, id }));
          const request = parseJson(text);
          if (request === undefined) reply(failure(new JsonRpcError('parse_error', 'Parse error')), null);
          else if (!isCall(request)) reply(failure(new JsonRpcError('invalid_request', 'Invalid request')), null);
          // The pings of web3.js and kit are notifications.
          else if (request.id !== undefined) reply(answer(peer, request), request.id);
        }),
      count: () => subscriptions.of(peer),
      end: () => subscriptions.leave(peer),
    }),
    close: () => feed.stop(),
  };
}

const failure = ({ code, message }: JsonRpcError) => ({ error: { code, message } });

/** The pause between looks while there are subscriptions; a look reads the last row's number. */
const LOOK_MS = 25;

const PAGE = 50;

/** After a sleep of the machine older slots are skipped. */
const MOST_SLOTS_AT_ONCE = 20;

/** Follows the file, which other processes write too. */
function createFeed(ledger: EmbeddedLedger, log: Log, listener: ReturnType<typeof createTeller>) {
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
      // Drops slots that took longer to notify than they lasted.
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
      // Failures in a row are logged once.
      if (!isFailing) log('error', 'subscriptions_failed', storageFields(error));
      isFailing = true;
    } finally {
      isLooking = false;
    }
  };

  return {
    /** Runs until no subscription is left. */
    start(): void {
      if (timer !== null) return;
      seen = ledger.transactionCount();
      toldSlot = ledger.peek().slot;
      timer = setInterval(() => void look(), LOOK_MS);
    },
    stop,
  };
}

/** Sends a transaction's outcome and ends the subscription. */
function settle(
  subscriptions: Subscriptions,
  subscription: Subscription,
  { slot, err }: Pick<LandedTransaction, 'slot' | 'err'>,
): void {
  subscriptions.forget(subscription);
  const context = { slot };
  if (subscription.wanted.isReceivedTold) tell(subscription, written({ context, value: 'receivedSignature' }));
  tell(subscription, written({ context, value: { err } }));
}

/** Notifies subscribers in the ledger's order. */
function createTeller(ledger: EmbeddedLedger, subscriptions: Subscriptions, turns: Turns) {
  const isWanted = (...kinds: readonly ('account' | 'program' | 'logs')[]) =>
    kinds.some((kind) => subscriptions.countOf(kind) > 0);

  /** Yields between subscribers, so that many do not hold up the process. */
  async function tellEach(those: readonly Subscription[], ...results: readonly WrittenJson[]): Promise<void> {
    for (const one of those) {
      for (const result of results) tell(one, result);
      await turns.breathe();
    }
  }

  async function tellLogs({ signature, slot, err, meta }: LandedTransaction, named: readonly Address[]): Promise<void> {
    const those = ['', ...named].flatMap((address) => subscriptions.waitingFor('logs', address));
    if (those.length === 0) return;
    await tellEach(those, written({ context: { slot }, value: { signature, err, logs: meta.logs } }));
  }

  async function tellAccount(address: Address, slot: number): Promise<void> {
    const account = ledger.account(address);
    const context = { slot };
    const views = new Map<string, WrittenJson>();
    /** Encodes once for all subscribers of the same form. */
    const inView = (form: string, view: AccountConfig, value: (shown: object) => object): WrittenJson => {
      const key = `${form} ${JSON.stringify([view?.encoding, view?.dataSlice])}`;
      const known = views.get(key);
      if (known) return known;
      const text = written({ context, value: value(shown(ledger, account ?? closed(address), view)) });
      views.set(key, text);
      return text;
    };
    for (const one of subscriptions.waitingFor('account', address)) {
      const text = inView('account', one.wanted.view, (its) => its);
      tell(one, text);
      await turns.breathe();
    }
    // A program gets no notice of an account that it no longer owns.
    if (!account) return;
    for (const one of subscriptions.waitingFor('program', account.owner)) {
      if (!one.wanted.matches?.(account.data)) continue;
      const text = inView('program', one.wanted.view, (its) => ({ pubkey: address, account: its }));
      tell(one, text);
      await turns.breathe();
    }
  }

  return {
    isIdle: subscriptions.isEmpty,

    landed: (transactions: readonly LandedTransaction[]) =>
      turns.run(async () => {
        const changed = new Map<Address, number>();
        for (const landed of transactions) {
          const { signature } = landed;
          for (const one of subscriptions.waitingFor('signature', signature)) settle(subscriptions, one, landed);
          if (!isWanted('account', 'program', 'logs')) continue;
          const { named, written } = changedBy(landed);
          if (isWanted('logs')) await tellLogs(landed, named);
          for (const address of written) changed.set(address, landed.slot);
          await turns.breathe();
        }
        if (!isWanted('account', 'program')) return;
        for (const [address, slot] of changed) await tellAccount(address, slot);
      }),

    /** Notifies of a slot that begins: the one before it is complete. */
    slot: (slot: number) =>
      turns.run(async () => {
        const parent = Math.max(0, slot - 1);
        const timestamp = Date.now();
        const { waitingFor } = subscriptions;
        await tellEach(waitingFor('slot'), written({ parent, root: parent, slot }));
        await tellEach(waitingFor('root'), written(parent));
        await tellEach(
          waitingFor('slotsUpdates'),
          written({ type: 'createdBank', parent, slot, timestamp }),
          written({ type: 'optimisticConfirmation', slot: parent, timestamp }),
          written({ type: 'root', slot: parent, timestamp }),
        );
      }),
  };
}

const NO_DATA = new Uint8Array();

/** Subscribers see a closed account as an empty one. */
const closed = (address: Address): ChainAccount => ({
  address,
  lamports: 0n,
  owner: SYSTEM_PROGRAM,
  data: NO_DATA,
  executable: false,
});

/** Omits data that is too large for base58. */
function shown(ledger: EmbeddedLedger, account: ChainAccount, view: AccountConfig): object {
  try {
    return encodeAccount(ledger, account, view ?? {});
  } catch (error) {
    if (!(error instanceof JsonRpcError)) throw error;
    return {
      ...encodeAccount(ledger, { ...account, data: NO_DATA }, view ?? {}),
      data: 'error: data too large for bs58 encoding',
      space: account.data.length,
    };
  }
}
