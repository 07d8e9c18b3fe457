import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { readBounded } from '../../../kernel/bounded-file.ts';
import { problem } from '../../../kernel/problems.ts';
import { isRecord } from '../../../terminal/fields.ts';
import { readJson, sourceName } from '../../session/json-file.ts';
import type { CommandContext } from '../../spec/command.ts';

/** Which fields hold a file's bytes, and where their hash goes (spec/partner-service.md, Customer data). */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  idDocument: { frontSideImage: 'frontSideImageHash', backSideImage: 'backSideImageHash' },
  proofOfAddress: { file: 'fileHash' },
  selfie: { image: 'imageHash' },
};

/** The largest file that is worth encoding; the service's own limit is for it to tell. */
const MOST_BYTES = 20 * 1024 * 1024;

const camelCase = (name: string): string =>
  name.replace(/[_-](\w)/g, (_match, letter: string) => letter.toUpperCase());

/**
 * The CustomerData items of a JSON file or of standard input: one object, an array, or `{ "data": […] }`. A file field
 * may name its file, `"frontSideImage": "@passport.jpg"` (from the folder of the JSON file); its bytes and their
 * SHA-256 are put in place. Personal data never stands in argv.
 * @throws Problem `file_unreadable`, `data_invalid`
 */
export async function readCustomerData(context: CommandContext, source: string): Promise<object[]> {
  const items = itemsOf(await readJson(context, source), source);
  const folder = source === '-' ? process.cwd() : dirname(resolve(source));
  return items.map((item, index) => withFiles(item, folder, items.length > 1 ? `${index + 1}: ` : ''));
}

function itemsOf(given: unknown, source: string): Record<string, unknown>[] {
  const list = Array.isArray(given) ? given : isRecord(given) ? (listIn(given) ?? [given]) : null;
  if (list !== null && list.length > 0 && list.every(isRecord)) return list;
  throw problem('data_invalid', {
    message: `${sourceName(source)} holds no customer data.`,
    fix: 'Give an object such as { "email": { "value": "ana@example.com" } }, or an array of them.',
  });
}

const listIn = (given: Record<string, unknown>): unknown[] | null => {
  const inner = Object.keys(given).length === 1 ? (given.data ?? given.items) : null;
  return Array.isArray(inner) ? inner : null;
};

function withFiles(item: Record<string, unknown>, folder: string, where: string): object {
  return Object.fromEntries(
    Object.entries(item).map(([kind, value]) => {
      const files = FILES[camelCase(kind)];
      return files && isRecord(value)
        ? [kind, filled(value, files, folder, `${where}${kind}`)]
        : [kind, value];
    }),
  );
}

function filled(
  value: Record<string, unknown>,
  files: Readonly<Record<string, string>>,
  folder: string,
  where: string,
): Record<string, unknown> {
  const whole = { ...value };
  for (const [name, given] of Object.entries(value)) {
    const hashName = files[camelCase(name)];
    if (hashName === undefined || typeof given !== 'string' || given === '') continue;
    const bytes = given.startsWith('@')
      ? fileBytes(resolve(folder, given.slice(1)), `${where}.${name}`)
      : null;
    if (bytes) whole[name] = bytes.toString('base64');
    const isHashed = Object.keys(value).some((other) => camelCase(other) === hashName);
    // A hash that is given is kept: it is the customer's word for which bytes were meant.
    if (!isHashed) whole[hashName] = sha256(bytes ?? Buffer.from(given, 'base64'));
  }
  return whole;
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function fileBytes(path: string, field: string): Buffer {
  try {
    const bytes = readBounded(path, { mostBytes: MOST_BYTES });
    if (bytes) return bytes;
    throw problem('data_invalid', {
      message: `The file of ${field} has more than ${MOST_BYTES / 1_048_576} MiB.`,
      fix: 'Give a smaller picture.',
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    throw problem('file_unreadable', {
      message: `The file of ${field}, ${path}, cannot be read.`,
      fix: 'Name it from the folder of the JSON file, such as "@passport.jpg".',
      cause: error,
    });
  }
}
