import type { Address } from '@solana/kit';
import type { ChainAccount } from '../cluster.ts';
import { SYSTEM_PROGRAM } from '../embedded/executor.ts';
import { changedBy } from '../embedded/landed.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import type { LandedTransaction } from '../embedded/ledger-transactions.ts';
import { encodeAccount } from '../json-rpc/encode-account.ts';
import type { AccountConfig } from '../json-rpc/params.ts';
import type { Turns } from '../json-rpc/turns.ts';
import { JsonRpcError } from '../json-rpc/wire.ts';
import { type Subscription, type Subscriptions, tell } from './subscriptions.ts';

type Outcome = Pick<LandedTransaction, 'slot' | 'err'>;

/** Tells, once, what became of a transaction; that ends the subscription. */
export function settle(
  subscriptions: Subscriptions,
  subscription: Subscription,
  { slot, err }: Outcome,
): void {
  subscriptions.forget(subscription);
  const { wanted } = subscription;
  const context = { slot };
  if (wanted.kind === 'signature' && wanted.isReceivedTold)
    tell(subscription, { context, value: 'receivedSignature' });
  tell(subscription, { context, value: { err } });
}

/** Tells subscribers what has happened on the ledger. */
export function createTeller(ledger: EmbeddedLedger, subscriptions: Subscriptions, turns: Turns) {
  const isWanted = (...kinds: readonly ('account' | 'program' | 'logs')[]) =>
    kinds.some((kind) => subscriptions.countOf(kind) > 0);

  function tellLogs({ signature, slot, err, meta }: LandedTransaction, named: readonly Address[]): void {
    const result = { context: { slot }, value: { signature, err, logs: meta.logs } };
    for (const mentions of [null, ...named])
      for (const one of subscriptions.waitingFor({ kind: 'logs', mentions })) tell(one, result);
  }

  async function tellAccount(address: Address, slot: number): Promise<void> {
    const account = ledger.account(address);
    const context = { slot };
    for (const one of subscriptions.waitingFor({ kind: 'account', address })) {
      if (one.wanted.kind !== 'account') continue;
      tell(one, { context, value: shown(ledger, account ?? closed(address), one.wanted.view) });
      await turns.breathe();
    }
    // A program is not told of an account that it no longer owns.
    if (!account) return;
    for (const one of subscriptions.waitingFor({ kind: 'program', program: account.owner })) {
      if (one.wanted.kind !== 'program' || !one.wanted.matches(account.data)) continue;
      const value = { pubkey: address, account: shown(ledger, account, one.wanted.view) };
      tell(one, { context, value });
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
          if (isWanted('logs')) tellLogs(landed, named);
          for (const address of written) changed.set(address, landed.slot);
          await turns.breathe();
        }
        if (!isWanted('account', 'program')) return;
        for (const [address, slot] of changed) await tellAccount(address, slot);
      }),

    slot(slot: number): void {
      const parent = Math.max(0, slot - 1);
      for (const one of subscriptions.waitingFor({ kind: 'slot' })) tell(one, { parent, root: parent, slot });
      for (const one of subscriptions.waitingFor({ kind: 'root' })) tell(one, parent);
      const timestamp = Date.now();
      for (const one of subscriptions.waitingFor({ kind: 'slotsUpdates' })) {
        tell(one, { type: 'createdBank', parent, slot, timestamp });
        tell(one, { type: 'optimisticConfirmation', slot: parent, timestamp });
        tell(one, { type: 'root', slot: parent, timestamp });
      }
    },
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
