import { randomBytes } from 'node:crypto';
import { getBase58Encoder } from '@solana/kit';
import { readBounded, readOpen } from '../kernel/bounded-file.ts';
import { isProblem, type Problem, problem } from '../kernel/problems.ts';
import { quoted, shell } from '../kernel/shell-word.ts';
import { storageProblem, writeOnce } from '../kernel/storage.ts';
import { ed25519Key, type Signer, signerFromHalves, signerFromSeed } from './signer.ts';

export type { Signer } from './signer.ts';

/** Reads the Solana CLI's 64 bytes (JSON or base58); `-` is standard input. Refuses files that others can read. */
export function readKeypair(pathOrDash: string, options: { stdin?: () => string } = {}): Signer {
  if (/^(usb|prompt):|^ASK$/.test(pathOrDash)) throw notAFile(pathOrDash);
  if (pathOrDash !== '-') return signerFromText(readPrivateFile(pathOrDash), pathOrDash);
  return signerFromText((options.stdin ?? readStdin)(), 'standard input');
}

/** Reads a file that we wrote, comparing its halves only at the first signature. @throws as `readKeypair` */
export function readOwnKeypair(path: string): Signer {
  const bytes = keypairBytes(readPrivateFile(path), path);
  return signerFromHalves(bytes.subarray(0, 32), bytes.subarray(32), () => halvesDiffer(path));
}

/** Reads the 32-byte seed of another tool's file. @throws as `readKeypair` */
export function readKeypairSeed(path: string): Uint8Array {
  const text = readPrivateFile(path);
  signerFromText(text, path);
  return keypairBytes(text, path).slice(0, 32);
}

/**
 * Makes a keypair file of mode 0600. @param at the path, or makes one that contains the address
 * @throws Problem `keypair_exists`: an existing key may hold money
 */
export function createKeypairFile(at: string | ((address: string) => string)): Signer {
  const seed = randomBytes(32);
  const bytes = [...seed, ...ed25519Key(seed).publicKey];
  const path = typeof at === 'string' ? at : at(signerFromSeed(seed).address);
  if (!writeOnce(path, `${JSON.stringify(bytes)}\n`)) {
    throw problem('keypair_exists', { message: `A wallet already exists: ${path}.`, detail: { path } });
  }
  return signerFromSeed(seed);
}

const MOST_BYTES = 4096;

function readStdin(): string {
  const bytes = readOpen(0, MOST_BYTES);
  if (!bytes) throw unreadable('standard input', 'it is too large to be a keypair');
  return bytes.toString('utf8');
}

function readPrivateFile(path: string): string {
  let bytes: Buffer | null;
  try {
    bytes = readBounded(path, {
      mostBytes: MOST_BYTES,
      check(stat) {
        if (stat.isDirectory()) throw unreadable(path, 'it is a folder');
        if (stat.isFile() && process.platform !== 'win32' && (Number(stat.mode) & 0o077) !== 0) {
          throw problem('keypair_unreadable', {
            message: `Others can read the keypair file ${path}.`,
            fix: `Run: chmod 600 ${quoted(path)}`,
            next: [shell`chmod 600 ${path}`],
            detail: { path },
          });
        }
      },
    });
  } catch (error) {
    if (isProblem(error)) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw problem('no_wallet', { message: `No wallet at ${path}.`, detail: { path } });
    }
    const trouble = storageProblem(error, path);
    throw isProblem(trouble, 'storage_failed', 'too_many_open_files')
      ? trouble
      : unreadable(path, 'it cannot be opened');
  }
  if (!bytes) throw unreadable(path, 'it is too large to be a keypair');
  return bytes.toString('utf8');
}

const notAFile = (given: string): Problem =>
  problem('keypair_unreadable', {
    message: given.startsWith('usb:')
      ? 'A hardware wallet cannot sign here: payments are signed by a keypair file.'
      : 'Seed phrases are not supported: a keypair file signs payments.',
    fix: 'Name a keypair file, or - to read one from standard input.',
  });

function signerFromText(text: string, source: string): Signer {
  const bytes = keypairBytes(text, source);
  const seed = bytes.subarray(0, 32);
  if (Buffer.compare(ed25519Key(seed).publicKey, bytes.subarray(32)) !== 0) throw halvesDiffer(source);
  return signerFromSeed(seed);
}

const halvesDiffer = (source: string): Problem =>
  unreadable(source, 'its public half does not belong to its private half');

function keypairBytes(text: string, source: string): Uint8Array {
  const bytes = parseBytes(text.trim());
  if (!bytes) throw unreadable(source, 'it is neither a JSON array of 64 bytes nor base58 text');
  if (bytes.length !== 64) throw unreadable(source, `a keypair has 64 bytes, this has ${bytes.length}`);
  return bytes;
}

/** Hides the parsers' errors, which quote the key. */
function parseBytes(text: string): Uint8Array | undefined {
  try {
    if (!text.startsWith('[')) return new Uint8Array(getBase58Encoder().encode(text));
    const list: unknown = JSON.parse(text);
    const isByte = (n: unknown) => typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= 255;
    return Array.isArray(list) && list.every(isByte) ? Uint8Array.from(list as number[]) : undefined;
  } catch {
    return undefined;
  }
}

const unreadable = (source: string, why: string): Problem =>
  problem('keypair_unreadable', {
    message: `The keypair in ${source} cannot be used: ${why}.`,
    detail: { path: source },
  });
