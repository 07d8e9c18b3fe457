import { type Clock, systemClock } from '../../kernel/clock.ts';
import { addressesOf } from '../../kernel/database-url.ts';
import type { Log } from '../../kernel/log.ts';
import { postgresRefusal } from './refusal.ts';
import { inWordsOfPg } from './url.ts';

const CHANNEL = 'farelock_work';
/** The pause between tries to listen. */
const AGAIN_MS = 5_000;
/** The pause between checks that the connection is alive: a half-open one is found within this time. */
const LOOK_EVERY_MS = 30_000;
const ANSWER_MS = 5_000;

export interface Wakes {
  /** Wakes the workers of other processes; calls of one moment share a statement. */
  send(): void;
  /** False while no message arrives, as behind a pooler of transactions: new work is then found by polling. */
  isHeard(): boolean;
  close(): Promise<void>;
}

/**
 * Listens for work that other processes accepted, on a connection of its own, straight to the server: poolers of
 * transactions pass no notifications on. A message may be lost, so polling goes on, less often.
 * @param notify sends one statement over the pool
 */
export async function openWakes(given: {
  readonly url: string;
  readonly notify: (statement: string) => Promise<unknown>;
  readonly onWake: () => void;
  readonly log: Log;
  readonly clock?: Clock;
}): Promise<Wakes> {
  const { url, notify, onWake, log, clock = systemClock } = given;
  const { default: pg } = await import('pg');
  const closing = new AbortController();
  let isHeard = false;
  let isSaid = false;

  const addresses = addressesOf(url);
  /** Listens until the connection ends. @throws what ended it */
  async function listen(address: string): Promise<void> {
    const listening = new pg.Client({
      connectionString: inWordsOfPg(address),
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
    });
    const ended = new Promise<never>((_resolve, reject) => {
      listening.on('error', reject);
      listening.on('end', () => reject(new Error('Connection terminated')));
    });
    // Awaited below, once connected.
    ended.catch(() => undefined);
    listening.on('notification', () => {
      isHeard = true;
      isSaid = false;
      onWake();
    });
    try {
      await listening.connect();
      await listening.query(`listen ${CHANNEL}`);
      // `isHeard` turns true with the first message, which is our own.
      send();
      while (!closing.signal.aborted) {
        await Promise.race([clock.sleep(LOOK_EVERY_MS, closing.signal), ended]);
        await listening.query('select 1');
      }
    } finally {
      isHeard = false;
      await listening.end().catch(() => undefined);
    }
  }

  const listening = (async () => {
    for (let tries = 0; !closing.signal.aborted; tries++) {
      await listen(addresses[tries % addresses.length] ?? url).catch((error: unknown) => {
        if (!isSaid && !closing.signal.aborted) log('warn', 'wakes_not_heard', { reason: postgresRefusal(error).said });
        isSaid = true;
      });
      await clock.sleep(AGAIN_MS, closing.signal);
    }
  })();

  let sending: Promise<unknown> | null = null;
  let isWanted = false;
  function send(): void {
    isWanted = true;
    sending ??= (async () => {
      while (isWanted) {
        isWanted = false;
        // A lost message does no harm: polling finds the work.
        await notify(`select pg_notify('${CHANNEL}', '')`).catch(() => undefined);
      }
      sending = null;
    })();
  }

  return {
    send,
    isHeard: () => isHeard,
    async close() {
      closing.abort();
      await Promise.all([listening, sending]);
    },
  };
}
