import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { problem } from '../../../kernel/problems.ts';

/** Whoever is not answered after this long is cut off: what was begun for him is resumable. */
const DRAIN_MS = 25_000;
const STILL_ACCEPTING_MS = 250;
const IDLE_LOOK_MS = 50;

/** Said when a server is told to stop. */
export const STOPPING = 'Stopping after current work. Press Ctrl-C again to stop now.';

interface Server {
  once(event: 'listening', run: () => void): unknown;
  once(event: 'error', run: (error: NodeJS.ErrnoException) => void): unknown;
  prependListener(event: 'request', run: (request: unknown, response: ServerResponse) => void): unknown;
  address(): AddressInfo | string | null;
  close(done: (error?: Error) => void): unknown;
  closeIdleConnections?(): void;
  closeAllConnections?(): void;
}

interface Where {
  readonly host: string;
  readonly port: number;
}

/** Waits until a server listens. @returns its origin, for this machine. @throws Problem `usage` */
export async function listening(server: Pick<Server, 'once' | 'address'>, where: Where): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', (error) => reject(listenProblem(error, where)));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shown = where.host === '0.0.0.0' || where.host === '::' ? '127.0.0.1' : where.host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/**
 * Follows what a server is answering, so that it can stop without cutting anybody off. Every answer from then on is the
 * last of its connection. It goes on accepting for a moment: what a client has sent may not have been read yet, and its
 * connection looks idle. Then whoever is answered is waited for, within limits.
 * @returns stops it, and accepts until `heard` as well
 */
export function drainable(server: Server): (heard?: Promise<unknown>) => Promise<void> {
  const answering = new Set<ServerResponse>();
  let isStopping = false;
  server.prependListener('request', (_request: unknown, response: ServerResponse) => {
    response.shouldKeepAlive &&= !isStopping;
    answering.add(response);
    response.once('close', () => answering.delete(response));
  });
  return async (heard) => {
    isStopping = true;
    for (const response of answering) response.shouldKeepAlive = false;
    await heard;
    await sleep(STILL_ACCEPTING_MS);
    await new Promise<void>((resolve) => {
      // A connection whose last answer was begun before is kept open by it, and idle once it has ended.
      const idle = setInterval(() => server.closeIdleConnections?.(), IDLE_LOOK_MS);
      const last = setTimeout(() => server.closeAllConnections?.(), DRAIN_MS);
      server.close(() => {
        clearInterval(idle);
        clearTimeout(last);
        resolve();
      });
    });
  };
}

function listenProblem(error: NodeJS.ErrnoException, { host, port }: Where): unknown {
  if (error.code === 'EADDRINUSE') {
    return problem('usage', {
      message: `Port ${port} on ${host} is already in use.`,
      fix: 'Give another --port, or 0 for any free one.',
    });
  }
  if (error.code === 'EACCES' || error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return problem('usage', {
      message: `Cannot listen on ${host}:${port} (${error.code}).`,
      fix: 'Give another --host or --port.',
    });
  }
  return error;
}
