import { spawn } from 'node:child_process';
import { BIN, type Runner } from './farelock.ts';

export interface Talkative {
  readonly shown: { flights_url: string; partner_url: string; rpc_url: string };
  /** SIGTERM; everything that it has printed. */
  stop(): Promise<Buffer>;
}

/** `farelock serve --verbose`, with everything that it prints kept. */
export async function talkative(runner: Runner): Promise<Talkative> {
  const server = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--json', '--verbose'], {
    env: { ...process.env, ...runner.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed: Buffer[] = [];
  const first = await new Promise<string>((ready, failed) => {
    for (const stream of [server.stdout, server.stderr]) stream.on('data', (chunk: Buffer) => printed.push(chunk));
    let text = '';
    server.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) ready(text.slice(0, text.indexOf('\n')));
    });
    server.once('exit', () => failed(new Error(Buffer.concat(printed).toString())));
  });
  return {
    shown: JSON.parse(first) as Talkative['shown'],
    stop: () =>
      new Promise((stopped) => {
        server.once('exit', () => stopped(Buffer.concat(printed)));
        server.kill('SIGTERM');
      }),
  };
}
