// A home of its own for each picture, and the built tool in it on a terminal: a PTY, and an emulator that draws.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

const bin = resolve(import.meta.dirname, '../../bin/farelock.js');

export const TRAVELLER = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

/** Draws a picture from the tool in a fresh home, which is gone afterwards. */
export async function inFreshHome(draw, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-picture-'));
  const given = {
    PATH: process.env.PATH,
    TERM: 'xterm-256color',
    COLORTERM: '',
    FARELOCK_HOME: folder,
    FARELOCK_SEED: 'farelock',
    FARELOCK_TICKETING_MS: '200',
    FARELOCK_LOWCOST_MS: '200',
    FARELOCK_PAGER: '',
    NO_UPDATE_NOTIFIER: '1',
    ...env,
  };
  /** A command that is not drawn; gives what it printed as JSON. */
  const run = (args, input = '') =>
    JSON.parse(
      execFileSync(process.execPath, [bin, ...args, '--json'], { cwd: folder, env: given, input, stdio: 'pipe' }),
    );
  const open = (size) => openTerminal(folder, given, size);
  try {
    // The first command of a home says where it made the wallet: a path of this machine.
    run(['wallet', 'show']);
    return await draw({ folder, run, open });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openTerminal(cwd, env, { columns, rows }) {
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  let drawn = Promise.resolve();
  let changed = Date.now();
  const write = (text) => {
    changed = Date.now();
    drawn = drawn.then(() => new Promise((done) => emulator.write(text, done)));
    return drawn;
  };
  const lines = () =>
    Array.from({ length: rows }, (_, y) => emulator.buffer.active.getLine(emulator.buffer.active.baseY + y));
  return {
    columns,
    rows,
    write,
    lines,
    /** How long nothing has been written, in milliseconds. */
    quietMs: () => Date.now() - changed,
    text: () =>
      lines()
        .map((line) => line.translateToString(true))
        .join('\n'),
    /** Starts one command, as a shell shows it; `typed` writes to it, `ended` is its exit code. */
    async start(line) {
      await write(`\x1b[1;32m$\x1b[0m \x1b[1m${line}\x1b[0m\r\n`);
      const [, ...args] = line.split(' ');
      const child = pty.spawn(process.execPath, [bin, ...args], { cols: columns, rows, cwd, env });
      child.onData(write);
      const ended = new Promise((done) => child.onExit(({ exitCode }) => drawn.then(() => done(exitCode))));
      return { type: (keys) => child.write(keys), kill: () => child.kill('SIGKILL'), ended };
    },
  };
}
