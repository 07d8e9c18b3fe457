import type { Address } from '@solana/kit';
import type { Intent } from '../../../wire/flights/index.ts';
import type { Session } from '../../session/session.ts';

/** USDC (atomic) where a journey can put it; null where there is no such account. */
export interface Account {
  readonly wallet: bigint | null;
  readonly treasury: bigint | null;
  readonly vault: bigint | null;
  /** All there is of the coin on this cluster. */
  readonly supply: bigint;
}

/** Reads what a journey moves. Before there is an intent, nothing is known of its treasury and vault. */
export async function readAccounts(
  session: Session,
  owner: Address,
  intent: Intent | null,
): Promise<Account> {
  const [{ associatedTokenAddress, decodeMint }, cluster] = await Promise.all([
    import('../../../solana/token.ts'),
    session.cluster(),
  ]);
  const mint = cluster.usdcMint;
  const [mintAccount] = await cluster.accounts([mint]);
  const held = async (holder: Address) => cluster.tokenBalance(await associatedTokenAddress(holder, mint));
  const { readEscrow } = await import('../../../escrow/account.ts');
  const escrow =
    intent &&
    (await readEscrow(cluster, intent.escrow.address as Address, [intent.escrow.program_id as Address]));
  return {
    wallet: await held(owner),
    treasury: escrow ? await held(escrow.treasury) : null,
    vault: intent ? await cluster.tokenBalance(intent.escrow.vault_address as Address) : null,
    supply: mintAccount ? (decodeMint(mintAccount.data)?.supply ?? 0n) : 0n,
  };
}
