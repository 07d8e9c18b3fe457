// A home of its own for each picture, and the built tool in it on a terminal: a PTY, and an emulator that draws.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** So long nothing was written after the last of a command. */
const LAST_MS = 100;
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
  const terminals = [];
  const open = (size) => {
    terminals.push(openTerminal(folder, given, size));
    return terminals.at(-1);
  };
  try {
    // The first command of a home says where it made the wallet: a path of this machine.
    run(['wallet', 'show']);
    return await draw({ folder, run, open });
  } finally {
    for (const terminal of terminals) terminal.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function openTerminal(cwd, env, { columns, rows }) {
  const emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  let drawn = Promise.resolve();
  let changed = Date.now();
  let shell = null;
  /** One for all commands: the numbers of a list are of the terminal and the shell in which it was shown. */
  const openShell = () => {
    const [go, codes] = ['go', 'codes'].map((name) => join(cwd, `.${name}`));
    execFileSync('mkfifo', [go]);
    writeFileSync(codes, '');
    const loop = 'while read -r words < "$0"; do "$2" "$3" $words; echo "$?" >> "$1"; done';
    const size = { cols: columns, rows };
    const child = pty.spawn('/bin/sh', ['-c', loop, go, codes, process.execPath, bin], { ...size, cwd, env });
    child.onData(write);
    let [isOver, commands] = [false, 0];
    child.onExit(() => {
      isOver = true;
    });
    return {
      type: (keys) => child.write(keys),
      /** With the command that runs in it: both are of one group. */
      kill() {
        if (!isOver) process.kill(-child.pid, 'SIGKILL');
        isOver = true;
      },
      /** @returns the command's exit code, once all that it wrote is drawn; null where the shell is gone */
      async ran(words) {
        const at = commands++;
        await writeFile(go, `${words.join(' ')}\n`);
        for (;;) {
          if (isOver) return null;
          const code = readFileSync(codes, 'utf8').split('\n').slice(0, -1)[at];
          if (code !== undefined && Date.now() - changed >= LAST_MS) return drawn.then(() => Number(code));
          await new Promise((done) => setTimeout(done, 20));
        }
      },
    };
  };
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
      shell ??= openShell();
      const { type, kill, ran } = shell;
      return { type, kill, ended: ran(line.split(' ').slice(1)) };
    },
    close: () => shell?.kill(),
  };
}
