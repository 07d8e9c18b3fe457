import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * A line to a server that can be cut as a network is: what is sent is lost, no connection ends, and no error comes.
 * @param at the path of its own socket; absent, it has a port
 */
export async function cuttable(to: { readonly path: string } | { readonly port: number }, at?: string) {
  let isCut = false;
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ ...to, host: '127.0.0.1', allowHalfOpen: true } as never);
    // A connection that was open while the line was cut has lost bytes: it is silent for ever.
    let isLost = isCut;
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('data', (chunk) => {
        isLost ||= isCut;
        if (!isLost) other.write(chunk);
      });
      one.on('end', () => {
        if (!isLost && !isCut) other.end();
      });
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        if (!isLost && !isCut) other.destroy();
      });
    }
  });
  if (at === undefined) server.listen(0, '127.0.0.1');
  else server.listen(at);
  await once(server, 'listening');
  return {
    port: at === undefined ? (server.address() as AddressInfo).port : 0,
    cut: () => {
      isCut = true;
    },
    mend: () => {
      isCut = false;
    },
    close: () => {
      for (const one of open) one.destroy();
      server.close();
    },
  };
}
