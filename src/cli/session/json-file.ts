import { readBounded } from '../../kernel/bounded-file.ts';
import { repeatedName } from '../../kernel/domain/repeated-names.ts';
import { problem } from '../../kernel/problems.ts';
import type { Surroundings } from './surroundings.ts';

const MOST_BYTES = 64 * 1_048_576;

/** The name of a source in a message. */
export const sourceName = (source: string): string => (source === '-' ? 'standard input' : source);

/**
 * Reads a file, or standard input (`-`).
 * @throws Problem `file_unreadable`
 */
export async function readSource({ streams }: Surroundings, source: string): Promise<Buffer> {
  if (source === '-') return Buffer.from(await streams.stdin.text(), 'utf8');
  let bytes: Buffer | null;
  try {
    bytes = readBounded(source, { mostBytes: MOST_BYTES });
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw problem('file_unreadable', {
      message: missing ? `There is no file ${source}.` : `${source} cannot be read.`,
      cause: error,
    });
  }
  if (bytes) return bytes;
  throw problem('file_unreadable', {
    message: `${source} is larger than ${MOST_BYTES / 1_048_576} MB.`,
    fix: 'Use a smaller file.',
  });
}

/** @throws Problem `file_unreadable` for what is not UTF-8 */
export function utf8Of(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw problem('file_unreadable', {
      message: `${sourceName(source)} is not UTF-8 text.`,
      fix: 'Save it as UTF-8, and try again.',
      cause: error,
    });
  }
}

/** Reads JSON from a file or standard input. Does not repeat the parser's message, since it quotes the private text. */
export async function readJson(context: Surroundings, source: string): Promise<unknown> {
  const text = utf8Of(await readSource(context, source), source).replace(/^\uFEFF/, '');
  const refused = (why: string) =>
    problem('file_unreadable', { message: `${sourceName(source)} ${why}.`, fix: 'Correct it, and try again.' });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw refused('is not JSON');
  }
  const repeated = repeatedName(text);
  if (repeated !== null) throw refused(`gives ${repeated.slice(0, 100)} twice`);
  return parsed;
}
