// Imported statically: loaded on demand, the build would keep all of kit and list its 450 exports at every start.
import { type Address, isAddress, isOffCurveAddress } from '@solana/kit';
import { problem } from '../../kernel/problems.ts';
import { associatedTokenAddress, SYSTEM_PROGRAM, tokenIn } from '../../solana/index.ts';
import type { FlightsPorts } from './ports.ts';

/** Checks that `text` is a wallet: addresses off the curve belong to programs. @throws Problem `invalid_wallet` */
export async function checkWallet(field: string, text: string): Promise<void> {
  // The address of the system program lies on the curve, but has no known key.
  if (isAddress(text) && !isOffCurveAddress(text) && text !== SYSTEM_PROGRAM) return;
  throw problem('invalid_wallet', {
    message: `${field} is not the address of a Solana wallet.`,
    detail: { issues: [{ path: field, message: 'must be the base58 address of an ed25519 wallet.' }] },
  });
}

/** Checks that a refund can reach `wallet` now; the operator opens no token account (docs/escrow.md, Who pays …). */
export async function checkRefundWallet(ports: FlightsPorts, wallet: string): Promise<void> {
  await checkWallet('refund_wallet', wallet);
  const { authority, facilitator, treasury, mint, ownWallets } = ports;
  const own = [authority.address, facilitator, ...(ownWallets?.() ?? [])];
  // Otherwise the operator would receive the refund.
  if ([...own, treasury, mint].includes(wallet as Address)) throw notAllowed(wallet);
  const token = await associatedTokenAddress(wallet as Address, mint);
  const [account, tokens] = await ports.cluster.accounts([wallet as Address, token]);
  // A program, a mint or a token account can lie on the curve, but cannot take a refund.
  if (account && (account.executable || account.owner !== SYSTEM_PROGRAM)) throw notAllowed(wallet);
  const held = tokenIn(tokens);
  if (held?.owner === wallet && held.state === 'initialized') return;
  throw problem('refund_wallet_without_account', { detail: { refund_wallet: wallet, mint } });
}

const notAllowed = (wallet: string) => problem('refund_wallet_not_allowed', { detail: { refund_wallet: wallet } });
