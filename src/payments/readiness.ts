import type { Address } from '@solana/kit';
import { problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import { associatedTokenAddress, type Cluster, type Faucet, type Signer, signPriced } from '../solana/index.ts';

const SOL = 1_000_000_000n;
/** What authority and facilitator have to hold before a service starts on a cluster without a faucet. */
export const LEAST_LAMPORTS = SOL / 2n;

/**
 * What must be true on the cluster before a payment can be taken: the operator's keys can pay fees and rents, and the
 * treasury has a token account, since an x402 payment goes to an account that exists. On the embedded cluster the
 * faucet sees to the fees; on a real one the operator does, and is told.
 * @throws Problem `insufficient_funds` on a real cluster, naming every key that holds too little.
 */
export async function readyForMoney(options: {
  readonly cluster: Cluster;
  readonly faucet: Faucet | null;
  readonly authority: Signer;
  readonly facilitator: Address;
  readonly treasury: Address;
  readonly mint: Address;
}): Promise<void> {
  const { cluster, faucet, authority, facilitator, treasury, mint } = options;
  const treasuryAccount = await associatedTokenAddress(treasury, mint);
  const [authorityAccount, facilitatorAccount, tokens] = await cluster.accounts([
    authority.address,
    facilitator,
    treasuryAccount,
  ]);
  const short = [
    { wallet: 'authority', address: authority.address, lamports: authorityAccount?.lamports ?? 0n },
    { wallet: 'facilitator', address: facilitator, lamports: facilitatorAccount?.lamports ?? 0n },
  ].filter(({ lamports }) => lamports < LEAST_LAMPORTS);
  if (short.length > 0 && !faucet) throw tooLittle(short);
  for (const { address } of short) await faucet?.airdropSol(address, 1000n * SOL);
  if (tokens) return;
  // Once in the life of a treasury: no later start loads it.
  const { getCreateAssociatedTokenIdempotentInstruction } = await import('@solana-program/token');
  const create = getCreateAssociatedTokenIdempotentInstruction({
    payer: authority,
    ata: treasuryAccount,
    owner: treasury,
    mint,
  });
  const { wire } = await signPriced(cluster, { feePayer: authority, instructions: [create] });
  await cluster.send(wire);
}

interface ShortKey {
  readonly wallet: string;
  readonly address: Address;
  readonly lamports: bigint;
}

const sol = (lamports: bigint): string => `${Number(lamports) / Number(SOL)}`;

/** All of them at once: who fills one up must not learn of the next one at the next start. */
const tooLittle = (short: readonly ShortKey[]) =>
  problem('insufficient_funds', {
    message: `The service cannot start: ${short
      .map(({ wallet, address, lamports }) => `the ${wallet} ${address} holds ${sol(lamports)} SOL`)
      .join(', ')}; each needs ${sol(LEAST_LAMPORTS)} for fees and rents.`,
    fix: `Send SOL to ${short.map(({ address }) => address).join(' and ')}, then start again.`,
    charged: 'nothing',
    next: [farelock`cluster keys`, farelock`cluster fund`],
    detail: {
      wallets: short.map(({ wallet, address, lamports }) => ({
        wallet,
        address,
        holds_lamports: Number(lamports),
        needs_lamports: Number(LEAST_LAMPORTS),
      })),
    },
  });
