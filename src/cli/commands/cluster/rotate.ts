import { instant } from '../../../kernel/clock.ts';
import { type NextStep, shell } from '../../../kernel/shell-word.ts';
import type { Rotation, RotationStep } from '../../../service/index.ts';
import { listLines } from '../../../terminal/index.ts';
import type { Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import { clusterInUse, onCluster } from './in-use.ts';
import type * as spec from './spec.ts';

const WOULD: Readonly<Record<RotationStep, string>> = {
  begin: 'Make the next key, and refuse processes that start without its file from then on.',
  switch: 'Use the next key for everything new, in each process from its next start on.',
  retire: 'Retire the older key, once nothing is under it.',
};

/** Takes the given step of a key rotation, if any, and shows its state and the next step. */
export const clusterRotate: Run<typeof spec.clusterRotate> = async (context, options) => {
  const { terminal, globals } = context;
  const { key, step } = options;
  if (globals.dryRun && step !== undefined) return printPlan(terminal, [WOULD[step]]);
  const desk = await clusterInUse(context, options);
  terminal.phase('Asking the cluster');
  const found = await desk.rotate(key, step ?? null);
  const { words = [], mayRetire = false, ...uses } = found.uses ?? {};
  const next = nextOf(found);
  terminal.result(
    {
      key,
      keys: found.keys.map(({ name, state, sinceMs, file, isHere }) => ({
        ...{ name, state, since: sinceMs === 0 ? null : instant(sinceMs), file, is_here: isHere },
      })),
      older: found.uses && { ...uses, may_retire: mayRetire },
      next: next?.step ?? null,
    },
    {
      list: 'keys',
      lines: (document, screen) =>
        listLines(screen, document.keys, [
          { title: 'Key', cell: ({ name }) => name },
          { title: 'State', cell: ({ state }) => state },
          { title: 'File', cell: (one) => (one.is_here ? one.file : screen.paint.dim(`${one.file} (not here)`)) },
        ]),
      rows: (document) => document.keys.map((one) => [one.name, one.state, one.file]),
    },
  );
  const old = found.keys.find(({ state }) => state === 'old');
  if (found.uses && old && !mayRetire) {
    terminal.aside(['', `${old.name} is still in use: ${words.join(', ')}.`]);
  }
  if (next)
    terminal.aside(['', ...next.words, ...nextLines(onCluster(['cluster', 'rotate', key, next.step], options))]);
  const retired = found.keys.find(({ state, isHere }) => state === 'retired' && isHere);
  const current = found.keys.find(({ state }) => state === 'current');
  if (retired && current && step === 'retire') {
    terminal.aside([
      '',
      'Its SOL is left. Move it, then keep its file in a backup and remove it here:',
      ...nextLines(moved(retired.file, current.name)),
    ]);
  }
  return 0;
};

const moved = (file: string, to: string): NextStep => shell`solana transfer --keypair ${file} ${to} ALL`;

function nextOf({
  duty,
  keys,
  uses,
}: Rotation): { readonly step: RotationStep; readonly words: readonly string[] } | null {
  const next = keys.find(({ state }) => state === 'next');
  if (next) {
    const fill = duty === 'service' ? '' : ` Fill ${next.name} with SOL.`;
    return { step: 'switch', words: [`Copy ${next.file} to the home of every process, and restart each.${fill}`] };
  }
  if (uses) return { step: 'retire', words: ['Restart every process: each uses the new key from then on.'] };
  return null;
}
