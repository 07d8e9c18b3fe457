import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import Sqlite from 'libsql';
import { TOOL } from '../../../src/cli/commands/index.ts';
import { type CommandSpec, commandsOf } from '../../../src/cli/spec/command.ts';
import type { Invocation } from '../../../src/cli/spec/tree.ts';
import { parse } from '../../../src/cli/tool/index.ts';
import { runInMemory } from '../../cli/memory.ts';
import { hastyClock } from '../../clock.ts';
import { BIN, farelockIn } from '../../e2e/farelock.ts';
import type { Mutator } from './mutator.ts';
import { isTold, type OpenSurface, wordsOf } from './surface.ts';

/**
 * Command lines: of every command, each of its arguments and options, with something wrong in them. All are parsed; what
 * would change nothing is run too, in this process, and a few of them by the built tool.
 */

/** Of those that may run. */
const RUN = 0.02;
const SPAWNED = 0.0003;
/** They ask a registry, or never end by themselves, or measure the machine. */
const NEVER_RUN = ['upgrade', 'doctor', 'partner orders watch'];
/** They name a file to write, or wait for what never comes. */
const NEVER_WITH = /^(ics|results|watch|wait|every)$/;
const EXITS = [0, 2, 3, 4, 5, 6, 7, 8];
const STACK = /^\s+at .*[:(]/m;
/** Who asks for more is shown where it happened. */
const VERBOSE = /^(--verbose|-\w*v)/;

const flagOf = (flags: string): string => /--[a-z][a-z-]*/.exec(flags)?.[0] ?? flags;

/** Good lines: the examples, and each option behind the command's words. */
function goodLines(spec: CommandSpec): string[][] {
  const examples = spec.examples.map((line) =>
    [...(line.split(' < ')[0]?.matchAll(/"([^"]*)"|(\S+)/g) ?? [])]
      .map(([, quoted, plain]) => quoted ?? plain ?? '')
      .slice(1),
  );
  const [first = spec.name.split(' ')] = examples;
  const options = (spec.options ?? []).map(({ flags }) => [
    ...first,
    flagOf(flags),
    ...(/[<[]/.test(flags) ? ['1'] : []),
  ]);
  return [...examples, ...options];
}

const GLOBALS = ['--json', '--dry-run', '--yes', '--max-payment', '--timeout', '--profile', '--quiet', '--verbose'];

function broken({ chance, upTo, oneOf, text }: Mutator, corpus: readonly string[][]): string[] {
  const words = [...oneOf(corpus)];
  const other = oneOf(corpus);
  for (let times = 1 + upTo(3); times > 0; times--) {
    const at = upTo(words.length + 1);
    const how = chance();
    if (how < 0.45 && at < words.length) words[at] = text(words[at] ?? '', oneOf(other));
    else if (how < 0.55) words.splice(at, 1);
    else if (how < 0.65) words.splice(at, 0, oneOf(other));
    else if (how < 0.8) words.splice(at, 0, oneOf(GLOBALS));
    else if (how < 0.9) words.splice(at, 0, words[upTo(words.length)] ?? '');
    else words.splice(at, words.length, ...other.slice(upTo(other.length)));
  }
  // An argument of a process ends at the first NUL.
  return words.map((word) => word.replaceAll('\0', ''));
}

function mayRun(invocation: Invocation | null): boolean {
  if (invocation === null) return false;
  const { name, spec, globals } = invocation;
  if (NEVER_RUN.includes(name) || spec.effect === 'runs') return false;
  if (Object.keys((invocation as { options?: object }).options ?? {}).some((one) => NEVER_WITH.test(one))) return false;
  return spec.effect === 'reads' || globals.dryRun === true;
}

export const openArgvSurface: OpenSurface = async (mutator) => {
  const home = mkdtempSync(join(tmpdir(), 'farelock-fuzz-'));
  const environment = { FARELOCK_HOME: home, FARELOCK_TICKETING_MS: '10', FARELOCK_LOWCOST_MS: '10' };
  const corpus = commandsOf(TOOL).flatMap(goodLines);
  const clock = hastyClock();
  const built = farelockIn();
  const streams = {
    stdout: { isTTY: false, columns: null, rows: null, write: () => undefined },
    stderr: { isTTY: false, columns: null, rows: null, write: () => undefined },
    stdin: { isTTY: false, text: async () => '' },
  };

  async function ended(words: readonly string[], isSpawned: boolean) {
    if (!isSpawned) return runInMemory(words, { environment, clock, folder: home });
    const ran = await execa(process.execPath, [BIN, ...words], { env: built.env, cwd: home, reject: false, input: '' });
    return { exitCode: ran.exitCode ?? -1, stdout: ran.stdout, stderr: ran.stderr };
  }

  return {
    async bad() {
      const words = broken(mutator, corpus);
      const input = JSON.stringify(words);
      let invocation: Invocation | null = null;
      let answer = 'understood';
      try {
        invocation = parse(words, { tool: TOOL, version: '9.9.9', streams });
      } catch (error) {
        if (!isTold(error)) return { input, answer, wrong: `throws ${wordsOf(error)}` };
        answer = 'refused';
      }
      const draw = mutator.chance();
      const isUsage = answer === 'refused';
      if (draw >= RUN || !(isUsage || mayRun(invocation)) || words[0] === 'complete')
        return { input, answer, wrong: null };
      // A line that is refused runs nothing, however it is started.
      const { exitCode, stdout, stderr } = await ended(words, draw < SPAWNED);
      const isQuiet = words.some((word) => VERBOSE.test(word)) || !STACK.test(stdout + stderr);
      const isGood = EXITS.includes(exitCode) && isQuiet && (!isUsage || exitCode === 2);
      const wrong = isGood ? null : `ends with ${exitCode}: ${stdout}${stderr}`;
      return { input, answer: `${draw < SPAWNED ? 'spawned' : 'run'}: exit ${exitCode}`, wrong };
    },
    async atRest() {
      for (const folder of [home, built.home]) {
        const journal = new Sqlite(join(folder, 'client.db'));
        try {
          const found = journal.prepare(`select name from sqlite_master where name = 'payments'`).all();
          const paid = found.length > 0 ? journal.prepare('select * from payments').all() : [];
          if (paid.length > 0) return [`${paid.length} payments were made`];
        } finally {
          journal.close();
        }
      }
      return [];
    },
    async close() {
      built.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
};
