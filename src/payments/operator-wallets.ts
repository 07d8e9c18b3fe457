import type { Address } from '@solana/kit';
import type { Clock } from '../kernel/clock.ts';
import { associatedTokenAddress, type Cluster, decodeTokenAccount } from '../solana/index.ts';

/** Holdings of the operator's wallets. */
interface Holdings {
  /** Lamports of the authority, who opens, captures and refunds escrows. */
  readonly authority: bigint;
  /** Lamports of the facilitator, who pays the fees of customers' payments; null where another service settles. */
  readonly facilitator: bigint | null;
  /** Atomic USDC of the treasury. */
  readonly treasury: bigint;
}

export interface OperatorWallets {
  readonly addresses: { readonly authority: Address; readonly facilitator: Address | null; readonly treasury: Address };
  /** False until the faucet of a new home has filled them: what they hold says nothing before. */
  isFilled(): boolean;
  /**
   * At most a few seconds old, and one look at a time: no request waits for its own, unless it asks for a fresh one.
   * @throws Problem `cluster_failed`
   */
  holdings(how?: { readonly fresh: boolean }): Promise<Holdings>;
}

const KEPT_MS = 3_000;

/** The operator's wallets as the chain has them: paywall and flight service look at them before they take money. */
export function createOperatorWallets(
  ports: OperatorWallets['addresses'] & {
    readonly cluster: Pick<Cluster, 'accounts'>;
    readonly clock: Clock;
    readonly mint: Address;
    readonly isFilled?: (() => boolean) | undefined;
  },
): OperatorWallets {
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
    isFilled: ports.isFilled ?? (() => true),
    holdings({ fresh } = { fresh: false }) {
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
