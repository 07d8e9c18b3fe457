import type { Streams } from '../../terminal/streams.ts';
import { harmless } from '../../terminal/text.ts';
import type { ToolSpec } from '../spec/command.ts';
import { type Candidate, FILES } from './candidate.ts';
import { candidatesFor } from './candidates.ts';
import type { Place } from './source.ts';

interface CompletedIn extends Place {
  readonly tool: ToolSpec;
  readonly streams: Streams;
}

/**
 * `farelock complete <shell> -- <words…>`, which the scripts of `completion` call: a candidate on a line, the last word
 * being typed. It prints nothing rather than a problem: there is a person in the middle of a line.
 */
export async function complete(argv: readonly string[], world: CompletedIn): Promise<0> {
  const [shell = '', ...rest] = argv;
  const given = rest[0] === '--' ? rest.slice(1) : rest;
  const words = shell === 'bash' ? rejoined(given) : given;
  try {
    const found = await candidatesFor(words, world.tool, world);
    // What stands before the last colon is no part of the word that bash puts a candidate in the place of.
    const before = shell === 'bash' ? (words.at(-1)?.lastIndexOf(':') ?? -1) + 1 : 0;
    const shown = found.map((one) => (one === FILES ? one : { ...one, value: one.value.slice(before) }));
    world.streams.stdout.write(shown.map((one) => `${lineOf(shell, one)}\n`).join(''));
  } catch (error) {
    if (world.environment.FARELOCK_DEBUG_COMPLETION) world.streams.stderr.write(`${String(error)}\n`);
  }
  return 0;
}

function lineOf(shell: string, candidate: Candidate): string {
  const value = harmless(candidate.value);
  const words = harmless(candidate.words);
  if (candidate === FILES || shell === 'bash' || words === '') {
    return shell === 'zsh' && candidate !== FILES ? value.replaceAll(':', '\\:') : value;
  }
  return shell === 'zsh' ? `${value.replaceAll(':', '\\:')}:${words}` : `${value}\t${words}`;
}

/** bash takes `--cabin=eco` and `lowcost:x` apart, at `=` and `:`, and completes what stands behind them. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = [];
  let joins = false;
  for (const [index, word] of words.entries()) {
    const isLast = index === words.length - 1;
    if (word === ':' || joins) whole.push(`${whole.pop() ?? ''}${word}`);
    else if (word !== '=') whole.push(word);
    else if (isLast) whole.push('');
    joins = word === ':';
  }
  return whole;
}
