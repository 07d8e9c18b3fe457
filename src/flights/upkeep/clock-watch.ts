import { hostname } from 'node:os';
import { serverAheadMs } from '../../store/leases.ts';
import type { FlightsPorts } from '../ports.ts';
import { pageWhile } from './page-while.ts';

const LOOK_EVERY_MS = 60_000;
/** Deadlines are compared with the cluster's clock, quotes with this one: seconds do no harm. */
const MOST_MS = 5_000;

/**
 * Holds this machine's clock against the database server's once a minute, and pages while they differ. Work is not taken
 * over for it (leases run by the server's clock), but quotes, deadlines and retries go by this one.
 */
export function createClockWatch(
  ports: Pick<FlightsPorts, 'store' | 'clock' | 'log' | 'outbox'>,
): () => Promise<void> {
  const { store, clock } = ports;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return;
    lookedAtMs = clock.now();
    const aheadMs = await serverAheadMs(store, clock);
    if (aheadMs === null) return;
    const machine = hostname();
    const seconds = Math.round(Math.abs(aheadMs) / 1000);
    await pageWhile(ports, {
      key: `clock_differs:${machine}`,
      event: 'clock_differs',
      restored: 'clock_right_again',
      text:
        Math.abs(aheadMs) <= MOST_MS
          ? null
          : `The clock of ${machine} is ${seconds} seconds ${aheadMs > 0 ? 'behind' : 'ahead of'} the database's. Set both by NTP.`,
      fields: { machine, seconds },
    });
  };
}
