import type { AddressInfo } from 'node:net';
import { problem } from '../kernel/problems.ts';

const DRAIN_MS = 10_000;

/** Said when a server is told to stop. */
export const STOPPING = 'Stopping: finishing what runs. Ctrl-C again stops at once.';

interface Server {
  once(event: 'listening', run: () => void): unknown;
  once(event: 'error', run: (error: NodeJS.ErrnoException) => void): unknown;
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

/** Stops accepting and waits for running answers; connections that are kept open without one are closed. */
export function drained(
  server: Pick<Server, 'close' | 'closeIdleConnections' | 'closeAllConnections'>,
): Promise<void> {
  return new Promise((resolve) => {
    const last = setTimeout(() => server.closeAllConnections?.(), DRAIN_MS);
    server.close(() => {
      clearTimeout(last);
      resolve();
    });
    server.closeIdleConnections?.();
  });
}

function listenProblem(error: NodeJS.ErrnoException, { host, port }: Where): unknown {
  if (error.code === 'EADDRINUSE') {
    return problem('usage', {
      message: `Port ${port} on ${host} is taken.`,
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
