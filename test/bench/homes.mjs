import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Homes, commands and servers of the tool that is measured, as processes of their own. */

export const ROOT = resolve(import.meta.dirname, '../..');

export const PASSENGER = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

// The paid call alone: the slower tier takes as long as it takes.
export const SEARCH = ['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait'];

const BASE = { ...process.env, FARELOCK_TICKETING_MS: '50', NO_COLOR: '1' };
// A bundle of certificates costs every Node start what it would not cost a user.
delete BASE.NODE_EXTRA_CA_CERTS;
for (const name of Object.keys(BASE)) if (/^FARELOCK_(?!TICKETING)/.test(name)) delete BASE[name];

/** Everything that a part has opened, closed at its end. */
export function createStage(tool) {
  const closing = [];
  const bin = join(resolve(tool), 'bin/farelock.js');

  const folder = (name = 'home') => {
    const path = mkdtempSync(join(tmpdir(), `farelock-bench-${name}-`));
    closing.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  };
  const envOf = (home, more = {}) => ({ ...BASE, FARELOCK_HOME: home, ...more });

  const node = (args, env = BASE) => {
    const begun = process.hrtime.bigint();
    const ran = spawnSync(process.execPath, args, { env, encoding: 'utf8', maxBuffer: 1 << 28 });
    const ms = Number(process.hrtime.bigint() - begun) / 1e6;
    if (ran.status !== 0) throw new Error(`node ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return { ms, stdout: ran.stdout };
  };
  const farelock = (env, ...args) => node([bin, ...args], env);

  /** `farelock serve` on a free port, once it listens. */
  async function serve(home, { args = [], env = {}, wrap = [] } = {}) {
    const [file, ...before] = [...wrap, process.execPath];
    const server = spawn(file, [...before, bin, 'serve', '--port', '0', '--json', ...args], {
      env: envOf(home, env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const shown = JSON.parse(await firstLine(server));
    const opened = {
      pid: server.pid,
      flightsUrl: shown.flights_url.replace(/\/$/, ''),
      rpcUrl: shown.rpc_url,
      operatorKey: () => readFileSync(shown.operator_key_file, 'utf8').trim(),
      stop: () => stopped(server, 'SIGTERM'),
    };
    closing.push(opened.stop);
    return opened;
  }

  return {
    bin,
    folder,
    envOf,
    node,
    farelock,
    serve,
    keep: (close) => void closing.push(close),
    async close() {
      for (const close of closing.splice(0).reverse()) await close();
    },
  };
}

export function firstLine(child) {
  return new Promise((ready, failed) => {
    let text = '';
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-4000);
    });
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) ready(text.slice(0, end));
    });
    child.once('exit', (code) => failed(new Error(`it ended with ${code}: ${errors}`)));
  });
}

export const stopped = (child, signal) =>
  new Promise((ended) => {
    if (child.exitCode !== null || child.signalCode !== null) return ended();
    child.once('exit', ended);
    child.kill(signal);
  });

export function passengersFile(folder) {
  const path = join(folder, 'passengers.json');
  writeFileSync(path, JSON.stringify([PASSENGER]));
  return path;
}

/**
 * Makes intents for what can be paid, of one search after another.
 * @param leave so many offers of a search that were locked before
 */
export function intentMaker(stage, env, { leave = 0 } = {}) {
  let offers = [];
  const affordable = (offer) => offer.total_currency === 'USD' && Number(offer.total_amount_decimal) < 400;
  return () => {
    if (offers.length === 0) {
      const { stdout } = stage.farelock(env, ...SEARCH, '--limit', '200', '--all-fares');
      const found = JSON.parse(stdout).offers.filter(affordable);
      offers = found.slice(0, found.length - leave);
    }
    const { stdout } = stage.farelock(env, 'intent', 'create', offers.pop().offer_id, '--json');
    return JSON.parse(stdout).intent_id;
  };
}

/** Seconds of processor time that a process has used, all threads; NaN where the system does not say. */
export function cpuSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}

/** Megabytes of memory that a process holds. */
export function residentMb(pid) {
  try {
    return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
