import { readBounded } from '../../kernel/bounded-file.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { quoted, shell } from '../../kernel/shell-word.ts';

/**
 * Reads the one line of a file with an API key, a token or an operator's key. Refuses a file that others can read, as
 * ssh does. No error quotes the content.
 * @throws Problem `key_file_unreadable`
 */
export function readKeyFile(path: string): string {
  const key = bytesOf(path)?.toString('utf8').trim();
  if (key === undefined) throw unreadable(path, 'it is too large to be a key');
  // A line break or a control character would end the header that the key is sent in.
  if (!/^[\x21-\x7e]+$/.test(key)) throw unreadable(path, 'it is not one line with a key');
  return key;
}

/** Reads a file with several secrets, such as accounts. @throws Problem `key_file_unreadable` */
export function readSecretFile(path: string): string {
  const text = bytesOf(path)?.toString('utf8');
  if (text === undefined) throw unreadable(path, 'it is too large');
  return text;
}

/** Reads a key file of the embedded stack; undefined if it is too large. */
export const readOwnKeyFile = (path: string): string | undefined =>
  readBounded(path, { mostBytes: MOST_BYTES, isRegular: true })?.toString('utf8').trim();

const MOST_BYTES = 16_384;

function bytesOf(path: string): Buffer | null {
  try {
    return readBounded(path, {
      mostBytes: MOST_BYTES,
      check(stat) {
        if (stat.isDirectory()) throw unreadable(path, 'it is a folder');
        if (stat.isFile() && process.platform !== 'win32' && (Number(stat.mode) & 0o077) !== 0) {
          throw problem('key_file_unreadable', {
            message: `Others can read the key file ${path}.`,
            fix: `Run: chmod 600 ${quoted(path)}`,
            next: [shell`chmod 600 ${path}`],
            detail: { path },
          });
        }
      },
    });
  } catch (error) {
    if (isProblem(error)) throw error;
    throw unreadable(
      path,
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it does not exist' : 'it cannot be opened',
    );
  }
}

const unreadable = (path: string, why: string): Problem =>
  problem('key_file_unreadable', { message: `The key file ${path} cannot be used: ${why}.`, detail: { path } });
