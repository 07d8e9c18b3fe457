import type { Server } from 'node:http';
import { HttpResponse } from '../../../kernel/http.ts';
import { isProblem, type Problem } from '../../../kernel/problems.ts';
import type { CommandContext } from '../../spec/command.ts';
import { httpServer } from './http-server.ts';
import { drainable, listening } from './listening.ts';
import type { WebSockets } from './web-sockets.ts';

/** Pairs of free ports that are tried for `--port 0`. */
const MOST_TRIES = 20;

interface Where {
  readonly host: string;
  readonly port: number;
}

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
async function listenOnBoth(server: Server, second: Server, where: Where): Promise<Listening> {
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

/** Listens, on the port after it too where there are subscriptions, and says so where that one is taken. */
export async function listenForBoth(
  { terminal }: Pick<CommandContext, 'terminal'>,
  server: Server,
  subscriptions: WebSockets | null,
  where: Where,
): Promise<{ readonly origin: string; readonly stopSecond: () => Promise<void> }> {
  if (!subscriptions) {
    server.listen(where.port, where.host);
    return { origin: await listening(server, where), stopSecond: async () => undefined };
  }
  // Clients that dial there want a WebSocket and nothing else.
  const second = httpServer(async () => new HttpResponse(426, null, { upgrade: 'websocket' }));
  for (const one of [server, second]) subscriptions.serve(one);
  const { origin, without } = await listenOnBoth(server, second, where);
  if (without)
    terminal.note(
      `${without.message} web3.js and the Solana CLI dial it for subscriptions, and wait in vain: give another --port, or tell them ${origin.replace(/^http/, 'ws')}/rpc.`,
    );
  return { origin, stopSecond: without ? async () => undefined : drainable(second) };
}
