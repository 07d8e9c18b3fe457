import type { Address } from '@solana/kit';
import type { Clock } from '../kernel/clock.ts';
import { problem } from '../kernel/problems.ts';
import { farelock } from '../kernel/shell-word.ts';
import type { Cluster, Faucet, Signer } from '../solana/index.ts';
import { associatedTokenAddress, decodeTokenAccount, loadPriced } from '../solana/index.ts';

interface Holdings {
  /** Lamports of the authority, which opens, captures and refunds escrows. */
  readonly authority: bigint;
  /** Lamports of the facilitator, which pays the fees of customers' payments; null if another service settles. */
  readonly facilitator: bigint | null;
  /** Atomic USDC of the treasury. */
  readonly treasury: bigint;
}

export type OperatorWallets = ReturnType<typeof createOperatorWallets>;

const KEPT_MS = 3_000;

export function createOperatorWallets(ports: {
  readonly authority: Address;
  readonly facilitator: Address | null;
  readonly treasury: Address;
  readonly cluster: Pick<Cluster, 'accounts'>;
  readonly clock: Clock;
  readonly mint: Address;
  readonly isFilled?: (() => boolean) | undefined;
}) {
  const { cluster, clock, mint, authority, facilitator, treasury } = ports;
  let last: { readonly atMs: number; readonly holdings: Promise<Holdings> } | null = null;

  async function read(): Promise<Holdings> {
    const [signs, pays, tokens] = await cluster.accounts([
      authority,
      facilitator ?? authority,
      await associatedTokenAddress(treasury, mint),
    ]);
    return {
      authority: signs?.lamports ?? 0n,
      facilitator: facilitator === null ? null : (pays?.lamports ?? 0n),
      treasury: (tokens && decodeTokenAccount(tokens.data)?.amount) ?? 0n,
    };
  }

  return {
    addresses: { authority, facilitator, treasury },
    /** False until the faucet of a new home has filled the wallets. */
    isFilled: ports.isFilled ?? (() => true),
    /** Returns a reading of the last seconds, shared by requests, or a `fresh` one. @throws Problem `cluster_failed` */
    holdings({ fresh } = { fresh: false }): Promise<Holdings> {
      const nowMs = clock.now();
      if (!fresh && last && nowMs >= last.atMs && nowMs < last.atMs + KEPT_MS) return last.holdings;
      const holdings = read();
      const look = { atMs: nowMs, holdings };
      last = look;
      holdings.catch(() => {
        if (last === look) last = null;
      });
      return holdings;
    },
  };
}

const SOL = 1_000_000_000n;
/** The least that authority and facilitator must hold for a start on a cluster without a faucet. */
export const LEAST_LAMPORTS = SOL / 2n;
/** The play money that a key gets on the embedded cluster. */
export const FILLED_LAMPORTS = 1000n * SOL;

/**
 * Prepares a cluster for payments: funds the keys that pay fees and rents, and creates the treasury's token account.
 * Without a faucet the operator funds the keys. @throws Problem `insufficient_funds`, naming every key that is short
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
  const [signs, pays, tokens] = await cluster.accounts([authority.address, facilitator, treasuryAccount]);
  const short = [
    { wallet: 'authority', address: authority.address, lamports: signs?.lamports ?? 0n },
    { wallet: 'facilitator', address: facilitator, lamports: pays?.lamports ?? 0n },
  ].filter(({ lamports }) => lamports < LEAST_LAMPORTS);
  if (short.length > 0 && !faucet) throw tooLittle(short);
  for (const { address } of short) await faucet?.airdropSol(address, FILLED_LAMPORTS);
  if (tokens) return;
  // Needed once in the life of a treasury: no later start loads it.
  const { getCreateAssociatedTokenIdempotentInstruction } = await import('@solana-program/token');
  const { signPriced } = await loadPriced();
  const create = getCreateAssociatedTokenIdempotentInstruction({
    payer: authority,
    ata: treasuryAccount,
    owner: treasury,
    mint,
  });
  const { wire } = await signPriced(cluster, { feePayer: authority, instructions: [create] });
  await cluster.send(wire);
}

const sol = (lamports: bigint): string => `${Number(lamports) / Number(SOL)}`;

/** Names all short wallets, so that the operator fills them all before the next start. */
const tooLittle = (short: readonly { wallet: string; address: Address; lamports: bigint }[]) =>
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
