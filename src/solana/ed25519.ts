import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';

// node:crypto rather than WebCrypto: it is synchronous, and Node 20's WebCrypto Ed25519 prints a warning.
const PKCS8_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface Ed25519Key {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 64 bytes. */
  sign(message: Uint8Array): Uint8Array;
}

/** The key of a 32-byte seed. */
export function ed25519Key(seed: Uint8Array): Ed25519Key {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_SEED, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
    sign: (message) => new Uint8Array(sign(null, message, key)),
  };
}

/**
 * Verifies as Solana does, that is strictly: keys and points of small order are refused. Without that rule anybody
 * could sign for an address such as the system program's, whose 32 zero bytes are a point of order four.
 */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32))) return false;
  // As a JWK, which is read in a fraction of the time that DER takes.
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

/** The y coordinates of every point of small order, canonical or not, without the sign bit (RFC 8032 encoding). */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);

function isSmallOrder(point: Uint8Array): boolean {
  const unsigned = Buffer.from(point);
  unsigned[31] = (unsigned[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(unsigned.toString('hex'));
}
