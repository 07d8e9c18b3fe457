import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Schedule } from './chance.ts';
import { reportOf, storyOf } from './report.ts';
import { type Outcome, type Play, shrink } from './shrink.ts';

/** A world that can be run by the command line. */
export interface Runnable {
  readonly play: Play;
  /** What a run over many seeds must have seen, each at least once. */
  readonly sometimes: readonly string[];
  close(): void | Promise<void>;
}

/** So many seeds without one of them is a run that has not looked everywhere. */
const MANY_SEEDS = 1_000;
/** What a dead process of a world waited for is never let go: after so many, another process of ours goes on. */
const BATCH = 100;

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/**
 * `npm run sim`: many seeds, or one, of every world, or of one. The exit code is 1 when a rule was broken, or something
 * rare was never seen.
 */
export async function runCommand(
  args: readonly string[],
  worlds: Readonly<Record<string, () => Promise<Runnable>>>,
  byName: Readonly<Record<string, () => Promise<Runnable>>> = {},
): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      world: { type: 'string' },
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      only: { type: 'string' },
      'no-noise': { type: 'boolean', default: false },
      'no-shrink': { type: 'boolean', default: false },
      story: { type: 'boolean', default: false },
      seen: { type: 'boolean', default: false },
      'seen-to': { type: 'string' },
    },
  });
  for (const name of values.world === undefined ? Object.keys(worlds) : [values.world]) {
    const open = worlds[name] ?? byName[name];
    if (!open) throw new Error(`--world is one of ${Object.keys({ ...worlds, ...byName }).join(', ')}`);
    const code = await runWorld(name, open, values);
    if (code !== 0) return code;
  }
  return 0;
}

interface Wanted {
  readonly seeds: string;
  readonly from: string;
  readonly seed?: string | undefined;
  readonly only?: string | undefined;
  readonly 'no-noise': boolean;
  readonly 'no-shrink': boolean;
  readonly story: boolean;
  readonly seen: boolean;
  /** Of a batch: the file that takes what was seen, instead of the screen. */
  readonly 'seen-to'?: string | undefined;
}

/** What was seen in a run, and what a long one must have seen. */
interface Played {
  readonly seen: Map<string, number>;
  readonly sometimes: readonly string[];
}

async function runWorld(name: string, open: () => Promise<Runnable>, values: Wanted): Promise<number> {
  const from = Number(values.seed ?? values.from);
  const count = values.seed === undefined ? Number(values.seeds) : 1;
  const beganMs = performance.now();
  const played =
    count > BATCH ? inBatches(name, values, from, count) : await playSeeds(name, open, values, from, count);
  if (played === null) return 1;
  const { seen, sometimes } = played;
  if (values['seen-to'] !== undefined) {
    writeFileSync(values['seen-to'], JSON.stringify({ seen: [...seen], sometimes }));
    return 0;
  }
  const tookS = (performance.now() - beganMs) / 1000;
  say(
    `${name}: ${count} seeds from ${from}: no rule was broken; ${tookS.toFixed(1)} s, ${(tookS / count).toFixed(2)} s a seed`,
  );
  const never = sometimes.filter((name) => !seen.has(name));
  if (values.seen || (never.length > 0 && count >= MANY_SEEDS)) {
    for (const [name, times] of [...seen].sort()) say(`${String(times).padStart(8)}  ${name}`);
    for (const name of never) say(`   never  ${name}`);
  } else {
    say(`seen ${sometimes.length - never.length} of ${sometimes.length} rare things`);
  }
  return never.length > 0 && count >= MANY_SEEDS ? 1 : 0;
}

/** null where a rule was broken, which has been told. */
function inBatches(name: string, values: Wanted, from: number, count: number): Played | null {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-sim-seen-'));
  const file = join(folder, 'seen.json');
  const seen = new Map<string, number>();
  let sometimes: readonly string[] = [];
  try {
    for (let seed = from; seed < from + count; seed += BATCH) {
      const seeds = Math.min(BATCH, from + count - seed);
      const flags = (['no-noise', 'no-shrink', 'story'] as const).filter((flag) => values[flag]);
      const args = ['--world', name, '--seeds', `${seeds}`, '--from', `${seed}`, '--seen-to', file];
      const { status } = spawnSync(
        process.execPath,
        [process.argv[1] ?? '', ...args, ...flags.map((flag) => `--${flag}`)],
        { stdio: 'inherit' },
      );
      if (status !== 0) return null;
      const batch = JSON.parse(readFileSync(file, 'utf8')) as { seen: [string, number][]; sometimes: string[] };
      for (const [one, times] of batch.seen) seen.set(one, (seen.get(one) ?? 0) + times);
      sometimes = batch.sometimes;
      say(`${name}: seed ${seed + seeds - 1}`);
    }
    return { seen, sometimes };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** null where a rule was broken, which has been told. */
async function playSeeds(
  name: string,
  open: () => Promise<Runnable>,
  values: Wanted,
  from: number,
  count: number,
): Promise<Played | null> {
  const world = await open();
  const isOne = values.seed !== undefined;
  const seen = new Map<string, number>();
  try {
    for (let seed = from; seed < from + count; seed++) {
      const only = values.only === undefined ? null : new Set(values.only.split(','));
      const schedule: Schedule = { seed, only, noise: !values['no-noise'] };
      const outcome = await world.play(schedule);
      if (values.story) for (const line of storyOf(outcome)) say(line);
      if (outcome.violation) {
        await tellOf(world.play, { schedule, outcome }, name, isOne || values['no-shrink']);
        return null;
      }
      // Every tenth seed of many, and whoever asks for one, is run twice.
      if (isOne || seed % 10 === 0) {
        const again = await world.play(schedule);
        if (again.digest !== outcome.digest) {
          say(`Seed ${seed} is not the same twice: ${outcome.digest} and ${again.digest}`);
          const [one, other] = [storyOf(outcome), storyOf(again)];
          const first = one.findIndex((line, place) => line !== other[place]);
          say(`first: ${one[first]}\nother: ${other[first]}`);
          return null;
        }
      }
      collect(seen, outcome);
    }
    return { seen, sometimes: world.sometimes };
  } finally {
    await world.close();
  }
}

async function tellOf(play: Play, found: Parameters<typeof shrink>[1], name: string, asItIs: boolean): Promise<void> {
  if (asItIs) return say(reportOf(found, name).join('\n'));
  say(
    `Seed ${found.schedule.seed} breaks: ${found.outcome.violation?.rule}. Shrinking from ${found.outcome.changes.length} changes.`,
  );
  const smallest = await shrink(play, found, (text) => say(`  ${text}`));
  say(reportOf(smallest, name).join('\n'));
}

/** Faults are seen by their kind, everything else by its name. */
function collect(seen: Map<string, number>, outcome: Outcome): void {
  const add = (name: string, times: number) => seen.set(name, (seen.get(name) ?? 0) + times);
  for (const [name, times] of outcome.seen) add(name, times);
  for (const { key, what } of outcome.changes) {
    const kind = key.slice(0, key.indexOf(':'));
    if (kind !== 'cast') add(`fault: ${kind} ${what}`, 1);
  }
}
