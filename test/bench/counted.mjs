import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pause, stopped } from './homes.mjs';

/** A server whose statements, syncs and pauses can be counted from outside. */

/** The environment of a server that counts, and where it writes. */
export function counting(stage) {
  const file = join(stage.folder('counts'), 'counts.json');
  return { file, env: { BENCH_COUNTS: file, NODE_OPTIONS: `--require ${join(import.meta.dirname, 'counting.cjs')}` } };
}

/** `statements` since its start, and the longest pause of its event loop since it was last asked. */
export async function countsOf(pid, file) {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  for (let i = 0; i < 200 && !existsSync(file); i++) await pause(20);
  return JSON.parse(readFileSync(file, 'utf8'));
}

const hasStrace = spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;

/** Syncs to the disk of processes while `work` runs; NaN without strace, or where it may not look. */
export async function syncsDuring(stage, pids, work) {
  if (!hasStrace) {
    await work();
    return Number.NaN;
  }
  const file = join(stage.folder('strace'), 'calls');
  const tracer = spawn(
    'strace',
    [
      '-f',
      '-qq',
      '-e',
      'trace=fsync,fdatasync,sync_file_range,msync',
      '-o',
      file,
      ...pids.flatMap((pid) => ['-p', pid]),
    ],
    { stdio: 'ignore' },
  );
  await pause(500);
  const attached = tracer.exitCode === null;
  await work();
  await pause(200);
  await stopped(tracer, 'SIGINT');
  if (!attached || !existsSync(file)) return Number.NaN;
  return readFileSync(file, 'utf8').match(/\b(?:fsync|fdatasync|sync_file_range|msync)\(/g)?.length ?? 0;
}

/** A process and all below it. */
export function familyOf(pid) {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = Number(readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
        return parent === pid ? [Number(name)] : [];
      } catch {
        return []; // it has ended since
      }
    });
  return [pid, ...children.flatMap(familyOf)];
}

/** Bytes of files of a folder that begin so. */
export const bytesOf = (folder, start) =>
  readdirSync(folder)
    .filter((name) => name.startsWith(start))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
