import { problem } from '../kernel/problems.ts';

/** 32 zero bytes: a point that nobody has an honest key for. */
const SYSTEM_PROGRAM = '11111111111111111111111111111111';

/**
 * Checks that `text` is the address of a wallet: base58 of 32 bytes, and a point of the ed25519 curve. An address
 * off the curve is a program's: it could neither sign a payment nor be asked where a refund went.
 * @throws Problem `invalid_wallet`, naming the field in `detail.issues`.
 */
export async function checkWallet(field: string, text: string): Promise<void> {
  const { isAddress, isOffCurveAddress } = await import('@solana/kit');
  if (isAddress(text) && !isOffCurveAddress(text) && text !== SYSTEM_PROGRAM) return;
  throw problem('invalid_wallet', {
    message: `${field} is not the address of a Solana wallet.`,
    detail: { issues: [{ path: field, message: 'must be the base58 address of an ed25519 wallet.' }] },
  });
}
