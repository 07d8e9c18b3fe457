import type { Server } from 'node:http';
import { isProblem, type Problem } from '../../../kernel/problems.ts';
import { listening } from './listening.ts';

/** Pairs of free ports that are tried for `--port 0`. */
const MOST_TRIES = 20;

interface Listening {
  readonly origin: string;
  /** Why nobody listens on the port after it; null where somebody does. */
  readonly without: Problem | null;
}

/**
 * Listens on a port, and on the one after it, where web3.js and the Solana CLI dial for subscriptions. A port that was
 * asked for is taken though the one after it is not free; without one, a pair is looked for.
 * @throws Problem `usage`
 */
export async function listenOnBoth(
  server: Server,
  second: Server,
  where: { readonly host: string; readonly port: number },
): Promise<Listening> {
  for (let left = MOST_TRIES; ; left--) {
    const { host } = where;
    server.listen(where.port, host);
    const origin = await listening(server, where);
    const port = Number(new URL(origin).port) + 1;
    if (port > 65_535) return { origin, without: null };
    try {
      second.listen(port, host);
      await listening(second, { host, port });
      return { origin, without: null };
    } catch (error) {
      if (!isProblem(error)) throw error;
      if (where.port !== 0 || left === 0) return { origin, without: error };
    }
    await new Promise((closed) => server.close(closed));
  }
}
