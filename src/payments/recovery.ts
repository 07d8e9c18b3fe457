import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { isProblem } from '../kernel/problems.ts';
import type { Cluster } from '../solana/index.ts';
import { LeaseLost } from '../store/index.ts';
import type { Facilitator } from './facilitator.ts';
import type { Journal, Settlement } from './journal.ts';
import { QUOTE_LIFE_MS } from './quotes.ts';
import { settledChange } from './settling.ts';
import type { Paywall } from './terms.ts';

export interface Recovery {
  outcome: Paywall['outcome'];
  /**
   * Ends payments whose process died, as far as the cluster knows how they ended. One read when there is nothing
   * to do. A payment that failed for certain is only marked here: what was done for it is undone by whoever asks
   * `outcome`, or by `undo` when the same request comes again.
   */
  recover(): Promise<{ readonly finished: number; readonly waiting: number }>;
}

interface RecoveryPorts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: Journal;
  readonly facilitator: () => Promise<Facilitator>;
}

const AT_ONCE = 50;

export function createRecovery(ports: RecoveryPorts): Recovery {
  const { clock, log, journal, cluster } = ports;

  async function end(row: Settlement): Promise<'settled' | 'failed' | 'unknown'> {
    if (row.state === 'answered' || row.state === 'settled') return 'settled';
    if (row.state === 'failed') return 'failed';
    // Never signed by us, so never landed: the same request may still go on with it while its quote lives.
    const stale = Math.abs(clock.now() - row.created_at_ms) > QUOTE_LIFE_MS;
    if (row.state !== 'settling' && !stale) return 'unknown';
    const mine = await journal.overtake(row);
    if (!mine) return 'unknown';
    try {
      return await journal.hold(mine, () => conclude(mine));
    } catch (error) {
      if (error instanceof LeaseLost || isProblem(error, 'cluster_failed')) return 'unknown';
      throw error;
    }
  }

  async function conclude(row: Settlement): Promise<'settled' | 'failed' | 'unknown'> {
    // Its holder was only slow, and came to its end before it was overtaken.
    if (row.state === 'settled') return 'settled';
    const outcome =
      row.state === 'settling'
        ? await (await ports.facilitator()).resolve(row)
        : { kind: 'failed' as const, reason: 'it was given up before it was sent' };
    if (outcome.kind === 'unknown') return 'unknown';
    if (outcome.kind === 'settled') {
      await journal.write(row, settledChange(row, cluster.network, outcome.transaction));
    } else {
      await journal.write(row, {
        state: 'failed',
        error_code: outcome.reason,
        answer_sealed: null,
        answer_fence: null,
        answer_status: null,
      });
    }
    log('info', 'payment_recovered', { payment: row.payment_key, outcome: outcome.kind });
    return outcome.kind;
  }

  return {
    async outcome(paymentKey) {
      const row = await journal.find(paymentKey);
      return row ? end(row) : 'unknown';
    },
    async recover() {
      let finished = 0;
      const orphans = await journal.orphans(AT_ONCE);
      for (const row of orphans) if ((await end(row)) !== 'unknown') finished++;
      return { finished, waiting: orphans.length - finished };
    },
  };
}
