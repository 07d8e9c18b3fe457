import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { worldClockEnv } from '../clock.ts';

/** The built tool, run as a user runs it: a process of its own per command. */

export const BIN = resolve(import.meta.dirname, '../../bin/farelock.js');

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  json<T>(): T;
}

export interface Runner {
  readonly home: string;
  readonly env: Record<string, string>;
  run(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Promise<Ran>;
  close(): void;
}

/** A home of its own under the system's temporary folder, and a way to run the tool in it, by the clock of the world. */
export function farelockIn(env: Record<string, string> = {}, home = mkdtempSync(join(tmpdir(), 'farelock-'))): Runner {
  const base = {
    FARELOCK_HOME: home,
    FARELOCK_TICKETING_MS: '150',
    FARELOCK_LOWCOST_MS: '200',
    NO_COLOR: '1',
    NODE_EXTRA_CA_CERTS: '',
    ...worldClockEnv,
    ...env,
  };
  return {
    home,
    env: base,
    async run(args, options = {}) {
      const ran = await execa(process.execPath, [BIN, ...args], {
        env: { ...base, ...options.env },
        input: options.input ?? '',
        reject: false,
        timeout: 60_000,
      });
      return {
        exitCode: ran.exitCode ?? -1,
        stdout: ran.stdout,
        stderr: ran.stderr,
        json: <T>() => JSON.parse(ran.stdout) as T,
      };
    },
    // A process that was ended with its terminal may still write its last file.
    close: () => rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }),
  };
}

export const PASSENGER = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

export interface Served {
  readonly flightsUrl: string;
  readonly rpcUrl: string;
  /** Hash of the first block, where it is not one that is known. */
  readonly genesis: string | null;
  /** Holds the first operator's key. */
  readonly operatorKeyFile: string;
  /** What it has written to standard error. */
  log(): string;
  /** Resolves once it has ended, by itself too, with the signal that ended it. */
  readonly ended: Promise<NodeJS.Signals | null>;
  /** SIGTERM, and the exit code of the drain. */
  stop(): Promise<number | null>;
  /** SIGKILL: it dies where it stands. */
  kill(): void;
}

/** `farelock serve` on a free port, as a process of its own, once it listens. */
export async function serveIn(runner: Runner, args: readonly string[] = []): Promise<Served> {
  const server = spawn(process.execPath, [BIN, 'serve', '--port', '0', '--json', ...args], {
    env: { ...process.env, ...runner.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  server.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<NodeJS.Signals | null>((done) => server.once('exit', (_code, signal) => done(signal)));
  const line = await new Promise<string>((ready, failed) => {
    let text = '';
    server.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const end = text.indexOf('\n');
      if (end >= 0) ready(text.slice(0, end));
    });
    server.once('exit', (code) => failed(new Error(`serve ended with ${code}: ${errors}`)));
  });
  const shown = JSON.parse(line) as {
    flights_url: string | null;
    rpc_url: string;
    genesis: string | null;
    operator_key_file: string;
  };
  return {
    // null of a cluster by itself.
    flightsUrl: shown.flights_url?.replace(/\/$/, '') ?? '',
    rpcUrl: shown.rpc_url,
    genesis: shown.genesis,
    operatorKeyFile: shown.operator_key_file,
    log: () => errors,
    ended,
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return server.exitCode;
      return new Promise((stopped) => {
        server.once('exit', (code) => stopped(code));
        server.kill('SIGTERM');
      });
    },
    kill: () => void server.kill('SIGKILL'),
  };
}
