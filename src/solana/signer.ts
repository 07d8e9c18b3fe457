import {
  type Address,
  getAddressDecoder,
  type MessagePartialSigner,
  type SignatureBytes,
  type TransactionPartialSigner,
} from '@solana/kit';
import { ed25519Key } from './ed25519.ts';

/** A wallet that signs: kit's two partial signers, and the same in one synchronous step. */
export interface Signer extends TransactionPartialSigner, MessagePartialSigner {
  readonly address: Address;
  /** The 64-byte Ed25519 signature of `message`. */
  sign(message: Uint8Array): SignatureBytes;
}

/** The signer of a 32-byte seed. The seed is not reachable from it. */
export function signerFromSeed(seed: Uint8Array): Signer {
  const key = ed25519Key(seed);
  const address = getAddressDecoder().decode(key.publicKey);
  const sign = (message: Uint8Array) => key.sign(message) as SignatureBytes;
  return Object.freeze({
    address,
    sign,
    signTransactions: async (transactions: readonly { readonly messageBytes: unknown }[]) =>
      transactions.map(({ messageBytes }) => ({ [address]: sign(messageBytes as Uint8Array) })),
    signMessages: async (messages: readonly { readonly content: Uint8Array }[]) =>
      messages.map(({ content }) => ({ [address]: sign(content) })),
  });
}
