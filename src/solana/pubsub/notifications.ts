import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import { changedBy, type EmbeddedLedger, type LandedTransaction, SYSTEM_PROGRAM } from '../embedded/index.ts';
import {
  type AccountConfig,
  encodeAccount,
  JsonRpcError,
  type Turns,
  type WrittenJson,
  written,
} from '../json-rpc/index.ts';
import { type Subscription, type Subscriptions, tell } from './subscriptions.ts';

type Outcome = Pick<LandedTransaction, 'slot' | 'err'>;

/** Tells, once, what became of a transaction; that ends the subscription. */
export function settle(subscriptions: Subscriptions, subscription: Subscription, { slot, err }: Outcome): void {
  subscriptions.forget(subscription);
  const { wanted } = subscription;
  const context = { slot };
  if (wanted.kind === 'signature' && wanted.isReceivedTold)
    tell(subscription, written({ context, value: 'receivedSignature' }));
  tell(subscription, written({ context, value: { err } }));
}

/** Tells subscribers what has happened on the ledger. */
export function createTeller(ledger: EmbeddedLedger, subscriptions: Subscriptions, turns: Turns) {
  const isWanted = (...kinds: readonly ('account' | 'program' | 'logs')[]) =>
    kinds.some((kind) => subscriptions.countOf(kind) > 0);

  /** Between two subscribers others have their turn: how many there are must not hold anybody up. */
  async function tellEach(those: readonly Subscription[], ...results: readonly WrittenJson[]): Promise<void> {
    for (const one of those) {
      for (const result of results) tell(one, result);
      await turns.breathe();
    }
  }

  async function tellLogs({ signature, slot, err, meta }: LandedTransaction, named: readonly Address[]): Promise<void> {
    const those = [null, ...named].flatMap((mentions) => subscriptions.waitingFor({ kind: 'logs', mentions }));
    if (those.length === 0) return;
    await tellEach(those, written({ context: { slot }, value: { signature, err, logs: meta.logs } }));
  }

  async function tellAccount(address: Address, slot: number): Promise<void> {
    const account = ledger.account(address);
    const context = { slot };
    const views = new Map<string, WrittenJson>();
    /** Written once for all that want it in the same form. */
    const inView = (form: string, view: AccountConfig, value: (shown: object) => object): WrittenJson => {
      const key = `${form} ${JSON.stringify([view?.encoding, view?.dataSlice])}`;
      const known = views.get(key);
      if (known) return known;
      const text = written({ context, value: value(shown(ledger, account ?? closed(address), view)) });
      views.set(key, text);
      return text;
    };
    for (const one of subscriptions.waitingFor({ kind: 'account', address })) {
      if (one.wanted.kind !== 'account') continue;
      tell(
        one,
        inView('account', one.wanted.view, (its) => its),
      );
      await turns.breathe();
    }
    // A program is not told of an account that it no longer owns.
    if (!account) return;
    for (const one of subscriptions.waitingFor({ kind: 'program', program: account.owner })) {
      if (one.wanted.kind !== 'program' || !one.wanted.matches(account.data)) continue;
      tell(
        one,
        inView('program', one.wanted.view, (its) => ({ pubkey: address, account: its })),
      );
      await turns.breathe();
    }
  }

  return {
    isIdle: () => subscriptions.isEmpty(),

    landed: (transactions: readonly LandedTransaction[]) =>
      turns.run(async () => {
        const changed = new Map<Address, number>();
        for (const landed of transactions) {
          const { signature } = landed;
          for (const one of subscriptions.waitingFor({ kind: 'signature', signature }))
            settle(subscriptions, one, landed);
          if (!isWanted('account', 'program', 'logs')) continue;
          const { named, written } = changedBy(landed);
          if (isWanted('logs')) await tellLogs(landed, named);
          for (const address of written) changed.set(address, landed.slot);
          await turns.breathe();
        }
        if (!isWanted('account', 'program')) return;
        for (const [address, slot] of changed) await tellAccount(address, slot);
      }),

    slot: (slot: number) =>
      turns.run(async () => {
        const parent = Math.max(0, slot - 1);
        const timestamp = Date.now();
        const { waitingFor } = subscriptions;
        await tellEach(waitingFor({ kind: 'slot' }), written({ parent, root: parent, slot }));
        await tellEach(waitingFor({ kind: 'root' }), written(parent));
        await tellEach(
          waitingFor({ kind: 'slotsUpdates' }),
          written({ type: 'createdBank', parent, slot, timestamp }),
          written({ type: 'optimisticConfirmation', slot: parent, timestamp }),
          written({ type: 'root', slot: parent, timestamp }),
        );
      }),
  };
}

const NO_DATA = new Uint8Array();

/** An account that is no more, as its subscribers are told of it: never null. */
const closed = (address: Address): ChainAccount => ({
  address,
  lamports: 0n,
  owner: SYSTEM_PROGRAM,
  data: NO_DATA,
  executable: false,
});

/** An account that is too large for base58 is told of without its data. */
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
