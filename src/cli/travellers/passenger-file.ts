import { readBounded } from '../../kernel/bounded-file.ts';
import { problem } from '../../kernel/problems.ts';
import type { CommandContext } from '../spec/command.ts';

const MOST_BYTES = 1_048_576;

/** The name of a file in a message. */
export const sourceName = (source: string): string => (source === '-' ? 'standard input' : source);

/**
 * The passengers in a JSON file, or on standard input (`-`): an array, `{ "passengers": […] }`, or one passenger
 * alone. Nothing of their fields is checked.
 * @throws Problem `file_unreadable`, which quotes nothing of the text
 */
export async function readPassengerFile(
  context: CommandContext,
  source: string,
  option = '--passengers',
): Promise<unknown[]> {
  return passengerList(await readText(context, source, option), source);
}

async function readText({ streams }: CommandContext, source: string, option: string): Promise<string> {
  if (source === '-') return streams.stdin.text();
  let bytes: Buffer | null;
  try {
    bytes = readBounded(source, { mostBytes: MOST_BYTES });
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw problem('file_unreadable', {
      message: missing ? `There is no file ${source}.` : `${source} cannot be read.`,
      fix: `Give ${option} a JSON file with an array of passengers, or - for standard input.`,
      cause: error,
    });
  }
  if (bytes) return bytes.toString('utf8');
  throw problem('file_unreadable', {
    message: `${source} is too large for a list of passengers.`,
    fix: `Give ${option} a JSON file of at most ${MOST_BYTES / 1_048_576} MB.`,
  });
}

function passengerList(text: string, source: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // What the parser says quotes the text, and the text is private.
    throw problem('file_unreadable', {
      message: `${sourceName(source)} is not JSON.`,
      fix: 'Give an array of passengers, or { "passengers": [ … ] }.',
    });
  }
  if (Array.isArray(parsed)) return parsed;
  if (typeof parsed === 'object' && parsed !== null) {
    if ('passengers' in parsed && Array.isArray(parsed.passengers)) return parsed.passengers;
    if ('family_name' in parsed || 'given_name' in parsed) return [parsed];
  }
  throw problem('file_unreadable', {
    message: `${sourceName(source)} has no list of passengers.`,
    fix: 'Give an array of passengers, or { "passengers": [ … ] }.',
  });
}
