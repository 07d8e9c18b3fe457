import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { type Problem, problem } from '../../kernel/problems.ts';
import { quoted } from '../../kernel/shell-word.ts';

/**
 * The one line of a file that holds an API key, a token or an operator's key. One that others can read is refused, as
 * ssh does. No error carries what was read.
 * @throws Problem `key_file_unreadable`
 */
export function readKeyFile(path: string): string {
  const file = opened(path);
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw unreadable(path, 'it is a folder');
    if (stat.isFile() && process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
      throw problem('key_file_unreadable', {
        message: `Others can read the key file ${path}.`,
        fix: `Run: chmod 600 ${quoted(path)}`,
        next: [`chmod 600 ${quoted(path)}`],
        detail: { path },
      });
    }
    if (stat.isFile() && stat.size > MOST_BYTES) throw unreadable(path, 'it is too large to be a key');
    const key = readFileSync(file, 'utf8').trim();
    // A line break or a control character would end the header that it is sent in.
    if (!/^[\x21-\x7e]+$/.test(key)) throw unreadable(path, 'it is not one line with a key');
    return key;
  } finally {
    closeSync(file);
  }
}

const MOST_BYTES = 16_384;

function opened(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw unreadable(
      path,
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'it does not exist' : 'it cannot be opened',
    );
  }
}

const unreadable = (path: string, why: string): Problem =>
  problem('key_file_unreadable', {
    message: `The key file ${path} cannot be used: ${why}.`,
    detail: { path },
  });
