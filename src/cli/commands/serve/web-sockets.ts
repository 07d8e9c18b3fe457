import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { HttpResponse } from '../../../kernel/http.ts';
import { once } from '../../../kernel/once.ts';
import { isProblem, type Problem } from '../../../kernel/problems.ts';
import type { Line, PubSub } from '../../../solana/pubsub/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { drainable, httpServer, listening, type Where } from './index.ts';

const MOST_CONNECTIONS = 1_000;

/** Keeps one client from taking every place. */
const MOST_OF_A_CLIENT = 250;

const MOST_MESSAGE_BYTES = 64 * 1024;

/** For one reader; a single message may be longer if nothing waits. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** For all readers together. Beyond it the reader with the most waiting bytes is cut off. */
const MOST_WAITING_BYTES_OF_ALL = 64 * 1024 * 1024;

const PATIENCE = {
  /** Each connection is pinged this often, and has as long to answer. */
  pingMs: 30_000,
  /** A connection without subscriptions that sends nothing for this long is closed. */
  idleMs: 120_000,
};

const GOODBYE_MS = 1_000;

/** Codes of RFC 6455, 7.4.1. */
const [GOING_AWAY, POLICY_VIOLATION] = [1001, 1008];

/** The part of ws in use: @types/ws is of an older version. */
interface WebSocket {
  readonly OPEN: number;
  readonly readyState: number;
  send(text: string, done: () => void): void;
  ping(): void;
  pause(): void;
  resume(): void;
  close(code: number, reason: string): void;
  terminate(): void;
  on(event: 'pong' | 'error', hear: () => void): unknown;
  on(event: 'message', hear: (data: Buffer, isBinary: boolean) => void): unknown;
  once(event: 'close', hear: () => void): unknown;
}

type Protocol = new (
  options: object,
) => { handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: WebSocket) => void): void };

interface Connected {
  readonly client: string;
  readonly socket: WebSocket;
  readonly line: Line;
  isAlive: boolean;
  heardMs: number;
  /** Bytes in the socket that the reader has not taken. */
  waitingBytes: number;
  mostWaitingBytes: number;
}

interface Room {
  readonly connections: Set<Connected>;
  /** The sum of all readers. */
  waitingBytes: number;
}

/**
 * The WebSocket side of `/rpc`.
 * @param open loads the subscriptions, with the first connection
 * @param clientOf the address of a request's client, or of its network
 */
export function webSockets(
  open: () => Promise<PubSub>,
  clientOf: (request: IncomingMessage) => string,
  patience = PATIENCE,
) {
  const connections = new Set<Connected>();
  const room: Room = { connections, waitingBytes: 0 };
  const opening = new Map<Duplex, string>();
  let isClosing = false;
  const isFull = (client: string): boolean => {
    if (isClosing || connections.size + opening.size >= MOST_CONNECTIONS) return true;
    const those = [...[...connections].map((one) => one.client), ...opening.values()];
    return those.filter((one) => one === client).length >= MOST_OF_A_CLIENT;
  };
  let pings: NodeJS.Timeout | undefined;

  const opened = once(async () => {
    const [pubSub, ws] = await Promise.all([open(), import('ws')]);
    const { WebSocketServer } = ws as unknown as { readonly WebSocketServer: Protocol };
    const protocol = new WebSocketServer({
      noServer: true,
      maxPayload: MOST_MESSAGE_BYTES,
      perMessageDeflate: false,
      // One message in a turn of the loop: other clients are served in between.
      allowSynchronousEvents: false,
    });
    pings = setInterval(() => lookAfter(connections, patience.idleMs), patience.pingMs);
    return { pubSub, protocol };
  });

  async function takeOver(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const client = clientOf(request);
    if (isFull(client)) return refuse(socket, '503 Service Unavailable', 'retry-after: 1\r\n');
    opening.set(socket, client);
    try {
      const { pubSub, protocol } = await opened();
      protocol.handleUpgrade(request, socket, head, (webSocket) => {
        const connected = connect(webSocket, client, pubSub, room);
        webSocket.once('close', () => {
          connections.delete(connected);
          connected.line.end();
        });
        if (isClosing) goodbye(webSocket, GOING_AWAY, 'stopping');
      });
    } finally {
      opening.delete(socket);
    }
  }

  return {
    /** Takes over the upgrades of a server. */
    serve(server: Server) {
      const latest = latestAnswers(server);
      server.on('upgrade', async (request, socket, head) => {
        socket.on('error', () => socket.destroy());
        // Earlier requests of this connection are answered first, as HTTP requires.
        await latest.get(socket);
        if (socket.destroyed) return;
        if (request.headers.upgrade?.toLowerCase() !== 'websocket') return asBefore(server, request, socket, head);
        if (!/^\/rpc\/?(\?|$)/.test(request.url ?? '')) return refuse(socket, '404 Not Found');
        takeOver(request, socket, head).catch(() => refuse(socket, '500 Internal Server Error'));
      });
    },
    /** Says goodbye on every connection, and hangs up. */
    async close() {
      isClosing = true;
      clearInterval(pings);
      const gone = [...connections].map(
        ({ socket }) => new Promise<void>((resolve) => void socket.once('close', () => resolve())),
      );
      for (const { socket } of connections) goodbye(socket, GOING_AWAY, 'stopping');
      await Promise.all(gone);
      (await opened.opened())?.pubSub.close();
    },
  };
}

export type WebSockets = ReturnType<typeof webSockets>;

function connect(socket: WebSocket, client: string, pubSub: PubSub, room: Room): Connected {
  const line = pubSub.connect({
    client,
    send(text) {
      if (socket.readyState !== socket.OPEN) return;
      const bytes = Buffer.byteLength(text);
      const { waitingBytes } = connected;
      // A long message, sent while nothing waits, raises the limit: the next messages must fit behind it.
      if (waitingBytes === 0) connected.mostWaitingBytes = MOST_WAITING_BYTES + bytes;
      else if (waitingBytes + bytes > connected.mostWaitingBytes)
        return goodbye(socket, POLICY_VIOLATION, 'too slow a reader');
      const wait = (by: number) => {
        connected.waitingBytes += by;
        room.waitingBytes += by;
      };
      wait(bytes);
      socket.send(text, () => wait(-bytes));
      makeRoom(room);
    },
  });
  const connected: Connected = {
    client,
    socket,
    line,
    isAlive: true,
    heardMs: performance.now(),
    waitingBytes: 0,
    mostWaitingBytes: 0,
  };
  room.connections.add(connected);
  socket.on('pong', () => {
    connected.isAlive = true;
  });
  socket.on('message', async (data, isBinary) => {
    connected.isAlive = true;
    connected.heardMs = performance.now();
    if (isBinary) return goodbye(socket, POLICY_VIOLATION, 'text only');
    // The next message is read when this one has been answered.
    socket.pause();
    await line.receive(String(data));
    socket.resume();
  });
  socket.on('error', () => socket.terminate());
  return connected;
}

/** Cuts off the readers with the most waiting bytes, until all together are within the limit. */
function makeRoom({ connections, waitingBytes }: Room): void {
  let left = waitingBytes - MOST_WAITING_BYTES_OF_ALL;
  if (left <= 0) return;
  for (const one of [...connections].sort((a, b) => b.waitingBytes - a.waitingBytes)) {
    if (left <= 0) return;
    left -= one.waitingBytes;
    one.socket.terminate();
  }
}

/** Ends connections that are dead or idle, and asks the others for a sign of life. */
function lookAfter(connections: ReadonlySet<Connected>, idleMs: number): void {
  for (const one of connections) {
    const isIdle = one.line.count() === 0 && performance.now() - one.heardMs > idleMs;
    if (!one.isAlive) one.socket.terminate();
    else if (isIdle) goodbye(one.socket, GOING_AWAY, 'idle');
    else {
      one.isAlive = false;
      one.socket.ping();
    }
  }
}

/** Closes with a reason, and hangs up on a reader that does not answer. */
function goodbye(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const end = setTimeout(() => socket.terminate(), GOODBYE_MS);
  socket.once('close', () => clearTimeout(end));
}

/** Resolves, for each connection, when its latest answer has ended. */
function latestAnswers(server: Server): WeakMap<Duplex, Promise<void>> {
  const latest = new WeakMap<Duplex, Promise<void>>();
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    latest.set(socket, new Promise((ended) => void answer.once('close', ended)));
  });
  return latest;
}

function refuse(socket: Duplex, status: string, headers = ''): void {
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\n${headers}content-length: 0\r\nconnection: close\r\n\r\n`);
  else socket.destroy();
}

/**
 * Ignores an upgrade to another protocol (RFC 9110, 7.8): Java's client asks for HTTP/2 with every first request. Node
 * leaves all upgrades to a server that listens for any, so this puts the request together again without the upgrade.
 */
function asBefore(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const lines = [`${request.method} ${request.url} HTTP/${request.httpVersion}`];
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? '';
    if (!/^(upgrade|connection|http2-settings)$/i.test(name))
      lines.push(`${name}: ${request.rawHeaders[index + 1] ?? ''}`);
  }
  socket.removeAllListeners('error');
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}

/** Attempts to find a pair of free ports for `--port 0`. */
const MOST_TRIES = 20;

/**
 * Listens on a port, and on the one after it, where web3.js and the Solana CLI dial for subscriptions. Takes a named
 * port even if the one after it is not free; for port 0, looks for a pair.
 * @returns `without`: the reason why it does not listen on the second port, or null
 * @throws Problem `usage`
 */
async function listenOnBoth(
  server: Server,
  second: Server,
  where: Where,
): Promise<{ readonly origin: string; readonly without: Problem | null }> {
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

/** Listens, with subscriptions on the port after it too, and notes when that one is taken. */
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
