import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readBounded } from './bounded-file.ts';
import { problem } from './problems.ts';
import { damaged, readJsonOf, storageProblem, writeOnce } from './storage.ts';

/** Encrypts (`v1.<key id>.<base64url>`) and hashes. Older keys still decrypt, so a rotation rewrites no row. */
export interface Secrets {
  /** AES-256-GCM; `place` (table, column, row) is authenticated, so moved values do not decrypt. */
  encrypt(place: string, clear: string): string;
  decrypt(place: string, sealed: string): string;
  /** Encrypts large bytes: `v1.<key id>.` and the ciphertext. */
  seal(place: string, clear: Uint8Array): Buffer;
  unseal(place: string, sealed: Uint8Array): Buffer;
  /** HMAC-SHA-256 in hex, for recognising secrets that are never read back (support codes). */
  hmac(purpose: string, value: string): string;
}

interface KeyRing {
  readonly keys: readonly { readonly id: string; readonly secret: string }[];
}

type RingKey = KeyRing['keys'][number];

const newKey = (): RingKey => ({ id: randomBytes(4).toString('hex'), secret: randomBytes(32).toString('base64') });

/**
 * Opens the key ring at `path`, or creates it (0600); it is linked into place, so concurrent starts agree. Its file is
 * never written again: each key added later has a file beside it.
 * @param current the id of the key that encrypts (default: the ring's first)
 */
export function openSecrets(path: string, current?: string): Secrets {
  if (!existsSync(path)) {
    const ring: KeyRing = { keys: [newKey()] };
    writeOnce(path, `${JSON.stringify(ring)}\n`);
  }
  return secretsFrom(readRing(path), path, current);
}

function readRing(path: string): KeyRing {
  const ring = readJsonOf(path);
  if (!isRing(ring)) throw damaged(path, 'it is not a key ring');
  return ring;
}

/** The ids in the ring's own file; the first key encrypts by default. */
export const ringIds = (path: string): readonly string[] => readRing(path).keys.map(({ id }) => id);

const besideRing = (path: string, id: string): string => path.replace(/\.json$/, `-${id}.json`);

/** Makes a key in a file beside the ring. @returns its id */
export function addRingKey(path: string): string {
  const key = newKey();
  writeOnce(besideRing(path, key.id), `${JSON.stringify({ keys: [key] } satisfies KeyRing)}\n`);
  return key.id;
}

/** @throws Problem `operator_key_unusable` */
function keyBeside(path: string, id: string): RingKey {
  const file = besideRing(path, id);
  const key = /^\w{1,32}$/.test(id) && existsSync(file) ? readRing(file).keys.find((one) => one.id === id) : undefined;
  if (key) return key;
  throw problem('operator_key_unusable', {
    retryAfter: 30,
    cause: new Error(`${file} is missing, or holds another key`),
  });
}

function isRing(value: unknown): value is KeyRing {
  const keys = (value as Partial<KeyRing> | null)?.keys;
  return (
    Array.isArray(keys) &&
    keys.length > 0 &&
    keys.every(
      (key: Partial<KeyRing['keys'][number]> | null) =>
        typeof key?.id === 'string' &&
        typeof key.secret === 'string' &&
        Buffer.from(key.secret, 'base64').length === 32,
    )
  );
}

const MOST_LINE_BYTES = 4096;

/** Reads the one line of a private file, made if missing and never overwritten. @param prefix the line's beginning */
export function ensureLine(path: string, prefix: string, make: () => string): string {
  const read = (): string | null => {
    try {
      const bytes = readBounded(path, { mostBytes: MOST_LINE_BYTES, isRegular: true });
      if (bytes) return bytes.toString('utf8').trim();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw storageProblem(error, path) ?? error;
    }
    throw damaged(path, 'it is too large, or no regular file');
  };
  if (read() === null) writeOnce(path, `${make()}\n`);
  const line = read();
  if (line === null || !line.startsWith(prefix)) throw damaged(path, `it has no ${prefix} line`);
  return line;
}

function secretsFrom(ring: KeyRing, path: string, currentId: string | undefined): Secrets {
  const known = new Map(ring.keys.map((key) => [key.id, key]));
  const keyOf = (id: string): RingKey => {
    const key = known.get(id) ?? keyBeside(path, id);
    known.set(id, key);
    return key;
  };
  const current = keyOf(currentId ?? ring.keys[0]?.id ?? '');
  const derived = new Map<string, Buffer>();
  /** Caches derived keys: every row needs one, and the purposes are few. */
  const derive = (secret: string, purpose: string): Buffer => {
    const name = `${secret} ${purpose}`;
    const known =
      derived.get(name) ??
      Buffer.from(hkdfSync('sha256', Buffer.from(secret, 'base64'), Buffer.alloc(0), `farelock ${purpose}`, 32));
    derived.set(name, known);
    return known;
  };
  const sealed = (place: string, clear: Uint8Array): Buffer => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', derive(current.secret, 'field'), nonce);
    cipher.setAAD(Buffer.from(place));
    const body = Buffer.concat([cipher.update(clear), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  };
  const opened = (place: string, version: string | undefined, id: string | undefined, bytes: Buffer) => {
    if (version !== 'v1' || id === undefined || bytes.length === 0) throw new Error('this is no sealed value');
    const key = keyOf(id);
    const decipher = createDecipheriv('aes-256-gcm', derive(key.secret, 'field'), bytes.subarray(0, 12));
    decipher.setAAD(Buffer.from(place));
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
  };
  const head = `v1.${current.id}.`;
  return {
    encrypt: (place, clear) => head + sealed(place, Buffer.from(clear)).toString('base64url'),
    decrypt(place, text) {
      const [version, id, body = ''] = text.split('.');
      return opened(place, version, id, Buffer.from(body, 'base64url')).toString('utf8');
    },
    seal: (place, clear) => Buffer.concat([Buffer.from(head), sealed(place, clear)]),
    unseal(place, bytes) {
      const whole = Buffer.from(bytes);
      const end = whole.indexOf('.', whole.indexOf('.') + 1);
      const [version, id] = whole.subarray(0, end).toString().split('.');
      return opened(place, version, id, whole.subarray(end + 1));
    },
    // Uses the oldest key: hashes cannot be remade on rotation.
    hmac: (purpose, value) =>
      createHmac('sha256', derive((ring.keys.at(-1) ?? current).secret, `hmac ${purpose}`))
        .update(value)
        .digest('hex'),
  };
}

/** Compares in constant time. */
export function sameSecret(a: string, b: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'farelock compare').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
