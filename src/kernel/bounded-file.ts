import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const CHUNK_BYTES = 65_536;
const SMALL_BYTES = 65_536;

interface Bound {
  readonly mostBytes: number;
  /** Refuses pipes and devices without waiting for a writer. */
  readonly isRegular?: boolean;
  /** Checks the open file before the read. */
  readonly check?: (file: ReturnType<typeof fstatSync>) => void;
}

/** Null for an irregular, large or unreadable file. */
export function smallText(path: string): string | null {
  try {
    return readBounded(path, { mostBytes: SMALL_BYTES, isRegular: true })?.toString('utf8') ?? null;
  } catch {
    return null;
  }
}

/** Reads a file of limited size: a link may lead to /dev/zero. @returns null for a larger or irregular file */
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

export function readOpen(file: number, mostBytes: number): Buffer | null {
  const parts: Buffer[] = [];
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let size = 0; ; ) {
    const read = readSync(file, chunk);
    if (read === 0) return Buffer.concat(parts);
    size += read;
    if (size > mostBytes) return null;
    parts.push(Buffer.from(chunk.subarray(0, read)));
  }
}
