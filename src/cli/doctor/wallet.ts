import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '@solana/kit';
import { formatUsdc } from '../../kernel/money.ts';
import { DEVNET_USDC } from '../../solana/cluster.ts';
import { formatSol } from '../view/wallet.ts';
import { type Check, type Finding, failed, ok, type Patient, warning } from './checks.ts';
import type { OpenCluster } from './network.ts';

/** Less than this does not pay for a search and an intent. */
const LOW_USDC = 1_000_000n;

/** The keypair file, and what its wallet holds. */
export const walletChecks = (patient: Patient, open: OpenCluster): Check[] => {
  const path = patient.profile.keypair ?? join(patient.home, 'wallet.json');
  return [
    { id: 'wallet', run: () => keypair(patient, path) },
    { id: 'balance', run: () => balance(patient, path, open) },
  ];
};

async function keypair({ profile }: Patient, path: string): Promise<Finding> {
  if (path === '-') return ok('Read from standard input, by the commands that sign');
  if (!existsSync(path)) {
    return profile.isEmbedded && profile.keypair === null
      ? warning(
          'No wallet yet',
          'The first paid command creates one, with play money.',
          'farelock wallet show',
        )
      : failed(`No wallet at ${path}`, 'Create one, or use another.', 'farelock wallet new');
  }
  const { readKeypair } = await import('../../solana/keypair.ts');
  return ok(`${readKeypair(path).address} in ${path}`);
}

async function balance(patient: Patient, path: string, open: OpenCluster): Promise<Finding> {
  if (path === '-' || !existsSync(path)) return ok('No wallet to check');
  const { readKeypair } = await import('../../solana/keypair.ts');
  const { address } = readKeypair(path);
  const { associatedTokenAddress } = await import('../../solana/token.ts');
  if (patient.profile.isEmbedded) {
    const { readLedger } = await import('../../solana/embedded/inspect.ts');
    const tokenAccount = await associatedTokenAddress(address, DEVNET_USDC);
    const held = readLedger(join(patient.home, 'ledger.db'), patient.clock, (ledger) => ({
      lamports: ledger.lamports(address),
      usdc: ledger.tokens(tokenAccount),
    }));
    return held === null ? ok('No ledger yet') : holds(held, address, true);
  }
  if (patient.profile.rpcUrls.length === 0) return ok('No cluster to ask');
  const cluster = await open();
  const tokenAccount = await associatedTokenAddress(address, cluster.usdcMint);
  const [[account], usdc] = await Promise.all([
    cluster.accounts([address]),
    cluster.tokenBalance(tokenAccount),
  ]);
  return holds({ lamports: account?.lamports ?? null, usdc }, address, false);
}

function holds(
  { lamports, usdc }: { lamports: bigint | null; usdc: bigint | null },
  address: Address,
  isPlayMoney: boolean,
): Finding {
  const said = `${usdc === null ? 'No USDC account' : `${formatUsdc(usdc)} USDC`}, ${formatSol(lamports ?? 0n)} SOL`;
  if ((usdc ?? 0n) >= LOW_USDC) return ok(said);
  return isPlayMoney
    ? warning(said, 'Get play money.', 'farelock wallet airdrop')
    : warning(
        said,
        `Send USDC to ${address}, or get play money if the cluster has any.`,
        'farelock wallet airdrop',
      );
}
