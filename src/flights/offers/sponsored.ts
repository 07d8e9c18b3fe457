import bs58 from 'bs58';
import { readBounded } from '../../kernel/bounded-file.ts';
import { type HttpRequest, type HttpResponse, headerOf, json } from '../../kernel/http.ts';
import { sha256Hex } from '../../kernel/json.ts';
import { type Problem, problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import { verifyEd25519 } from '../../solana/index.ts';
import { removeOld } from '../../store/index.ts';
import { checkWallet, type FlightsPorts, type GatewayKeys } from '../base/index.ts';

const PREFIX = 'x-gateway-sponsored-';
const NAMES = ['key-id', 'timestamp', 'wallet', 'signature'] as const;
/** How far the gateway's clock may be from ours, either way. */
const SKEW_MS = 60_000;
/** How long an expired signature is kept: another process's clock may be behind. */
const KEPT_MS = 10 * 60_000;
const USED_SIGNATURES = { table: 'sponsored_signatures', key: 'signature', at: 'expires_at_ms' } as const;

type Signed = Awaited<ReturnType<typeof readSigned>>;

/** Answers a sponsored search, which uses up its signature even if it fails. @throws `invalid_sponsored_preview` */
export async function sponsoredPreview(
  ports: FlightsPorts,
  request: HttpRequest,
  bodyBytes: Uint8Array,
  call: PaidCall,
  publicUrl: string | undefined,
): Promise<HttpResponse> {
  const signed = await readSigned(ports, request, bodyBytes, addressedOf(request, call.url, publicUrl));
  await call.check({ payer: null });
  const key = await use(ports, signed);
  const visit = { key, payer: signed.wallet, amount: 0n };
  const answer = await call.perform(visit).catch(async (error: unknown) => {
    await call.undo?.(visit);
    throw error;
  });
  ports.log('info', 'sponsored_preview', { resource: call.resource, key_id: signed.keyId });
  return json(answer.body, answer.status, { 'X-Sponsored-Preview': 'true' });
}

async function readSigned(
  { gatewayKeys, clock }: FlightsPorts,
  request: HttpRequest,
  bodyBytes: Uint8Array,
  addressed: { host: string; path: string },
) {
  const [keyId, timestamp, wallet, signatureText] = NAMES.map((name) => headerOf(request, PREFIX + name));
  if (!keyId || !timestamp || !wallet || !signatureText) throw refused('incomplete');
  const signature = bytesOf(signatureText, 64);
  if (!/^\d{1,12}$/.test(timestamp) || !signature) throw refused('malformed');
  await checkWallet('X-GATEWAY-SPONSORED-WALLET', wallet).catch(() => {
    throw refused('malformed');
  });
  const keys = (await gatewayKeys?.()) ?? {};
  const key = Object.hasOwn(keys, keyId) ? keys[keyId] : undefined;
  if (!key) throw refused('unknown_key');
  const signedAtMs = Number(timestamp) * 1000;
  if (Math.abs(clock.now() - signedAtMs) > SKEW_MS) throw refused('stale');
  const text = signedText({ timestamp, wallet, method: request.method, ...addressed, body: bodyBytes });
  if (!verifyEd25519(key, Buffer.from(text), signature)) throw refused('bad_signature');
  return { keyId, wallet, signature, signedAtMs };
}

/** Uses up the signature, which only one request in all processes can. @returns the id that the search counts under */
async function use({ store, clock }: FlightsPorts, { signature, signedAtMs }: Signed): Promise<string> {
  const name = bs58.encode(signature);
  const taken = await store
    .insertInto('sponsored_signatures')
    .values({ signature: name, expires_at_ms: signedAtMs + SKEW_MS + KEPT_MS })
    .onConflict((conflict) => conflict.column('signature').doNothing())
    .returning('signature')
    .executeTakeFirst();
  if (!taken) throw refused('replayed');
  await removeOld(store, USED_SIGNATURES, clock.now());
  return `preview:${name}`;
}

/** The host and path that must be signed. A server uses its own name, so a signature for another service is refused. */
function addressedOf(request: HttpRequest, url: string, publicUrl: string | undefined) {
  const { host, pathname: path } = new URL(url);
  return { host: publicUrl === undefined ? (headerOf(request, 'host') ?? host) : host, path };
}

/** The text that a gateway signs: seven lines, the last one the SHA-256 of the body in lower-case hex. */
export const signedText = (parts: {
  /** Whole seconds since the epoch. */
  readonly timestamp: string;
  readonly wallet: string;
  readonly method: string;
  /** As in the Host header: with the port, unless it is the scheme's default. */
  readonly host: string;
  readonly path: string;
  readonly body: Uint8Array;
}): string =>
  ['v1', parts.timestamp, parts.wallet, parts.method, parts.host.toLowerCase(), parts.path, sha256Hex(parts.body)].join(
    '\n',
  );

/** Reads gateway keys (JSON: key id to public key, base58 or base64) for each preview, so changes need no restart. */
export async function readGatewayKeys(path: string): Promise<GatewayKeys> {
  const bytes = readBounded(path, { mostBytes: MOST_KEYS_BYTES });
  if (!bytes) throw new Error(`${path}: larger than ${MOST_KEYS_BYTES / 1024} KB`);
  const listed: unknown = JSON.parse(bytes.toString('utf8'));
  if (listed === null || typeof listed !== 'object') throw new Error(`${path}: not an object of gateway keys`);
  return Object.fromEntries(
    Object.entries(listed).map(([id, text]) => {
      const key = typeof text === 'string' ? bytesOf(text, 32) : null;
      if (!key) throw new Error(`${path}: the key ${id} is not an Ed25519 public key`);
      return [id, key];
    }),
  );
}

const MOST_KEYS_BYTES = 1_048_576;

/** Decodes base58 or base64 (either alphabet) of exactly `length` bytes; returns null for anything else. */
function bytesOf(text: string, length: number): Uint8Array | null {
  if (text.length > length * 2) return null;
  if (/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) {
    const bytes = bs58.decode(text);
    if (bytes.length === length) return bytes;
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return null;
  const bytes = new Uint8Array(Buffer.from(text, 'base64'));
  return bytes.length === length ? bytes : null;
}

const MESSAGES = {
  incomplete: 'A sponsored preview needs four headers: key id, timestamp, wallet and signature.',
  malformed: 'A header of the sponsored preview cannot be read.',
  unknown_key: 'The gateway key of the sponsored preview is not known here.',
  stale: 'The timestamp of the sponsored preview is more than 60 seconds away.',
  bad_signature: 'The signature of the sponsored preview does not match this request.',
  replayed: 'The signature of the sponsored preview was already used.',
};

const refused = (reason: keyof typeof MESSAGES): Problem =>
  problem('invalid_sponsored_preview', { message: MESSAGES[reason], detail: { reason } });
