import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 65_536;
const SMALL_BYTES = 65_536;

interface Bound {
  readonly mostBytes: number;
  /** A pipe or a device is refused, without waiting for a writer. */
  readonly isRegular?: boolean;
  /** Looks at the open file before it is read. */
  readonly check?: (file: ReturnType<typeof fstatSync>) => void;
}

/** The text of a small regular file; null where it is another one, or cannot be read. */
export function smallText(path: string): string | null {
  try {
    return readBounded(path, { mostBytes: SMALL_BYTES, isRegular: true })?.toString('utf8') ?? null;
  } catch {
    return null;
  }
}

/**
 * Reads a file whose path somebody else has chosen: a link to /dev/zero has no end.
 * @returns null for a file that is larger, or not a regular one where it must be
 */
export function readBounded(path: string, { mostBytes, isRegular = false, check }: Bound): Buffer | null {
  const flags = constants.O_RDONLY | (isRegular ? (constants.O_NONBLOCK ?? 0) : 0);
  const file = openSync(path, flags);
  try {
    const stat = fstatSync(file);
    if (isRegular && !stat.isFile()) return null;
    check?.(stat);
    return readOpen(file, mostBytes);
  } finally {
    closeSync(file);
  }
}

/** The same of a file that is open, such as standard input. */
export function readOpen(file: number, mostBytes: number): Buffer | null {
  const parts: Buffer[] = [];
  for (let size = 0; ; ) {
    const part = Buffer.alloc(CHUNK_BYTES);
    const read = readSync(file, part);
    if (read === 0) return Buffer.concat(parts);
    size += read;
    if (size > mostBytes) return null;
    parts.push(part.subarray(0, read));
  }
}
