import type { Log } from '../../kernel/log.ts';
import { storageFields } from '../../store/watch.ts';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import type { LandedTransaction } from '../embedded/ledger-transactions.ts';

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
export function createFeed(ledger: EmbeddedLedger, log: Log, listener: Listener) {
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
