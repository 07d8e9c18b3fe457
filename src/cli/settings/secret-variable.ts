import { readBounded } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';
import type { Environment } from './globals.ts';

/**
 * The value of a variable that can hold a secret, or of the file that the same name with `_FILE` behind it names, so
 * that it stands in no process list; undefined when neither is set. The variable itself comes first.
 * @throws Problem `usage`
 */
export function secret(environment: Environment, name: string): string | undefined {
  const direct = environment[name]?.trim();
  const path = environment[`${name}_FILE`];
  if (direct || !path) return direct || undefined;
  const unreadable = (why: string) =>
    problem('usage', {
      message: `The file that ${name}_FILE names cannot be read (${why}).`,
      fix: 'Check the path and who may read it, or unset the variable.',
    });
  let bytes: Buffer | null;
  try {
    bytes = readBounded(path, { mostBytes: MOST_BYTES });
  } catch (error) {
    throw unreadable((error as NodeJS.ErrnoException).code ?? 'unknown');
  }
  if (!bytes) throw unreadable('too large');
  return bytes.toString('utf8').trim() || undefined;
}

const MOST_BYTES = 65_536;

/** Said of a key on the command line. */
export const keyInArgument = (option: string, variable: string): string =>
  `${option} holds a key: others on this machine can read it in the list of processes. Give it in ${variable}, or in a file that ${variable}_FILE names.`;
