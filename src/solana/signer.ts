import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { Address, MessagePartialSigner, SignatureBytes, TransactionPartialSigner } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';

/** A wallet: kit's two partial signers, and a synchronous one. */
export interface Signer extends TransactionPartialSigner, MessagePartialSigner {
  readonly address: Address;
  /** A 64-byte Ed25519 signature. */
  sign(message: Uint8Array): SignatureBytes;
}

/** The signer hides its seed. */
export function signerFromSeed(seed: Uint8Array): Signer {
  const key = ed25519Key(seed);
  return signerOf(getAddressDecoder().decode(key.publicKey), () => key);
}

/** Trusts the public half until the first signature, since deriving it is slow. @throws `mismatch()` then */
export function signerFromHalves(seed: Uint8Array, publicKey: Uint8Array, mismatch: () => Error): Signer {
  let derived: ReturnType<typeof ed25519Key> | undefined;
  return signerOf(getAddressDecoder().decode(publicKey), () => {
    derived ??= ed25519Key(seed);
    if (Buffer.compare(derived.publicKey, publicKey) !== 0) throw mismatch();
    return derived;
  });
}

function signerOf(address: Address, key: () => ReturnType<typeof ed25519Key>): Signer {
  const sign = (message: Uint8Array) => key().sign(message) as SignatureBytes;
  return Object.freeze({
    address,
    sign,
    signTransactions: async (transactions: readonly { readonly messageBytes: unknown }[]) =>
      transactions.map(({ messageBytes }) => ({ [address]: sign(messageBytes as Uint8Array) })),
    signMessages: async (messages: readonly { readonly content: Uint8Array }[]) =>
      messages.map(({ content }) => ({ [address]: sign(content) })),
  });
}

// node:crypto is synchronous; Node 20's WebCrypto Ed25519 prints a warning.
const PKCS8_SEED = Buffer.from('302e020100300506032b657004220420', 'hex');

export function ed25519Key(seed: Uint8Array) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_SEED, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return {
    publicKey: new Uint8Array(Buffer.from(x, 'base64url')),
    sign: (message: Uint8Array) => new Uint8Array(sign(null, message, key)),
  };
}

/** Refuses points of small order, as Solana does: anybody could sign for the system program's 32 zero bytes. */
export function verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  if (isSmallOrder(publicKey) || isSmallOrder(signature.subarray(0, 32))) return false;
  // A JWK is read faster than DER.
  const x = Buffer.from(publicKey).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, message, key, signature);
}

/** The y coordinates of all small-order points, canonical or not, without the sign bit (RFC 8032). */
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
