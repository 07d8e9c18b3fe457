import {
  appendTransactionMessageInstructions,
  type Base64EncodedWireTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import type { Scene } from './scene.ts';

/** A message of version 0 that alice pays for. */
export async function messageOf({ rpc, signer }: Scene, instructions: readonly Instruction[]) {
  const { value } = await rpc.getLatestBlockhash().send();
  return pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayerSigner(signer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(value, m),
    (m) => appendTransactionMessageInstructions(instructions, m),
  );
}

export async function signedBy(_scene: Scene, message: Awaited<ReturnType<typeof messageOf>>) {
  const transaction = await signTransactionMessageWithSigners(message);
  const wire: Base64EncodedWireTransaction = getBase64EncodedWireTransaction(transaction);
  return { transaction, wire, signature: getSignatureFromTransaction(transaction) };
}

export const wireOf = async (scene: Scene, ...instructions: Instruction[]) =>
  signedBy(scene, await messageOf(scene, instructions));
