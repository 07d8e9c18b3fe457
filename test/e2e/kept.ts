import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as passed } from 'node:timers/promises';
import { BIN, type Runner } from './farelock.ts';

/** A process that is started again whenever it ends, until it is told to stop. */
export async function kept({ env }: Runner, args: readonly string[], version = BIN) {
  let child: ChildProcess;
  let bin = version;
  let [isOver, isReady, errors, starts] = [false, false, '', 0];
  let shown: Record<string, string> = {};
  const begin = (more: readonly string[] = []): Promise<void> =>
    new Promise((ready, failed) => {
      child = spawn(process.execPath, [bin, ...args, ...more, '--json'], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        text += String(chunk);
        if (!text.includes('\n')) return;
        const said = JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, string>;
        if (said.error) return;
        shown = said;
        isReady = true;
        ready();
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        errors += String(chunk);
      });
      child.once('exit', async (code, signal) => {
        isReady = false;
        if (isOver) return;
        // A process that finds no database, or its port taken, is started again, as a machine does it.
        if (signal !== 'SIGKILL' && code !== 0) errors += `${args.join(' ')} ended with ${code}: ${text}\n`;
        if (starts++ > 100) return failed(new Error(errors));
        await passed(500);
        if (isOver) return;
        // On the same port: its clients know no other.
        const { port } = shown.flights_url ? new URL(shown.flights_url) : { port: '' };
        begin(port ? ['--port', port] : []).then(ready, failed);
      });
    });
  const isBegun = begin(args[0] === 'serve' ? ['--port', '0'] : []);
  isBegun.catch(() => undefined);
  await isBegun;
  return {
    shown: () => shown,
    /** Only what runs: one that is killed at each start would never do anything. */
    kill: () => isReady && child.kill('SIGKILL'),
    /** Stops for so long, as a machine that is out of breath. */
    async halt(ms: number): Promise<void> {
      child.kill('SIGSTOP');
      await passed(ms);
      child.kill('SIGCONT');
    },
    /** Ends in peace, and goes on as another version. */
    async become(version: string): Promise<void> {
      bin = version;
      const before = child;
      if (before.exitCode === null && before.signalCode === null) {
        before.kill('SIGTERM');
        await once(before, 'exit');
      }
      while (!isReady) await passed(50);
    },
    async stop(): Promise<number | null> {
      isOver = true;
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
      child.kill('SIGTERM');
      return ended;
    },
  };
}
