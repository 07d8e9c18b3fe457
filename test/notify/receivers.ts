import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** Receivers on real sockets, which can be down, refuse, or take a message and lose the answer. */

export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
}

export type Behaviour = 'up' | 'down' | 'busy' | 'refusing' | 'lost_answer';

/** Speaks as much SMTP as a client needs to hand over a mail; with a certificate, over TLS from the first byte. */
export async function smtpReceiver(certificate?: { readonly key: string; readonly cert: string }) {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  const state = { behaviour: 'up' as Behaviour, connections: 0 };
  const greet = (socket: Socket) => {
    state.connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
    if (state.behaviour === 'down') {
      socket.destroy();
      return;
    }
    converse(socket, state, mails);
  };
  const server = certificate ? createTlsServer(certificate, greet) : createServer(greet);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, certificate ? '0.0.0.0' : '127.0.0.1', resolve));
  return {
    url: `${certificate ? 'smtps' : 'smtp'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mails,
    state,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function converse(socket: Socket, state: { behaviour: Behaviour }, mails: ReceivedMail[]): void {
  let buffer = '';
  let from = '';
  let to: string[] = [];
  let inData = false;
  const say = (line: string) => socket.write(`${line}\r\n`);
  say('220 test ESMTP');
  socket.on('data', (chunk) => {
    buffer += chunk.toString('latin1');
    for (;;) {
      if (inData) {
        const end = buffer.indexOf('\r\n.\r\n');
        if (end < 0) return;
        const raw = Buffer.from(buffer.slice(0, end).replace(/^\.\./gm, '.'), 'latin1').toString('utf8');
        mails.push({ from, to, raw });
        buffer = buffer.slice(end + 5);
        inData = false;
        if (state.behaviour === 'lost_answer') {
          socket.destroy();
          return;
        }
        say('250 taken');
        continue;
      }
      const end = buffer.indexOf('\r\n');
      if (end < 0) return;
      const line = buffer.slice(0, end);
      buffer = buffer.slice(end + 2);
      const word = line.slice(0, 4).toUpperCase();
      if (word === 'EHLO' || word === 'HELO') say('250 test');
      else if (word === 'MAIL') {
        from = /<(.*?)>/.exec(line)?.[1] ?? '';
        to = [];
        say('250 ok');
      } else if (word === 'RCPT') {
        if (state.behaviour === 'refusing') say('550 no such mailbox');
        else if (state.behaviour === 'busy') say('451 try again later');
        else {
          to.push(/<(.*?)>/.exec(line)?.[1] ?? '');
          say('250 ok');
        }
      } else if (word === 'DATA') {
        inData = true;
        say('354 go on');
      } else if (word === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    }
  });
}

export interface ReceivedPage {
  readonly path: string;
  readonly key: string | undefined;
  readonly body: Record<string, unknown>;
}

/** A webhook receiver. */
export async function webhookReceiver() {
  const pages: ReceivedPage[] = [];
  const state = { behaviour: 'up' as Behaviour | 'redirecting', tries: 0 };
  const server = createHttpServer((request, response) => {
    state.tries++;
    if (state.behaviour === 'down') {
      request.socket.destroy();
      return;
    }
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      if (state.behaviour === 'redirecting') {
        response.writeHead(307, { location: '/elsewhere' }).end();
        return;
      }
      if (state.behaviour === 'refusing') {
        response.writeHead(400).end();
        return;
      }
      pages.push({
        path: request.url ?? '',
        key: request.headers['idempotency-key']?.toString(),
        body: JSON.parse(text) as Record<string, unknown>,
      });
      if (state.behaviour === 'lost_answer') request.socket.destroy();
      else response.writeHead(200).end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pages,
    state,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
