import type { World } from '../tool.ts';
import { harmless } from '../view/text.ts';
import { type Candidate, FILES } from './candidate.ts';
import { candidatesFor } from './candidates.ts';

/**
 * `farelock complete <shell> -- <words…>`, which the scripts of `completion` call: a candidate on a line, the last word
 * being typed. It prints nothing rather than a problem: there is a person in the middle of a line.
 */
export async function complete(argv: readonly string[], world: World): Promise<0> {
  const [shell = '', ...rest] = argv;
  const words = rest[0] === '--' ? rest.slice(1) : rest;
  try {
    const found = await candidatesFor(shell === 'bash' ? rejoined(words) : words, world.environment);
    world.streams.stdout.write(found.map((one) => `${lineOf(shell, one)}\n`).join(''));
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

/** bash takes `--cabin=eco` apart, at `=`, and completes what stands behind it. */
function rejoined(words: readonly string[]): string[] {
  const whole: string[] = [];
  for (const [index, word] of words.entries()) {
    const isLast = index === words.length - 1;
    if (word !== '=') whole.push(word);
    else if (isLast) whole.push('');
  }
  return whole;
}
