import { existsSync } from 'node:fs';
import type { Address } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Service } from '../../service/index.ts';
import { type Cluster, loadKeypair, loadToken, type Signer } from '../../solana/index.ts';
import type { Terminal } from '../../terminal/index.ts';

const FIRST_LAMPORTS = 10_000_000_000n;
const FIRST_USDC = 10_000_000_000n;
const FUNDING_WAIT_MS = 3000;

interface WalletGiven {
  readonly keypairFile: string;
  /** True for the home's own wallet, which the embedded stack makes by itself. */
  readonly isDefault: boolean;
  /** Null on a remote profile. */
  readonly service: Service | null;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/**
 * Opens the wallet of the session. On the embedded stack the home's own wallet is made and funded on its first use,
 * with a note; every other wallet has to exist.
 * @throws Problem `no_wallet`, `keypair_unreadable`
 */
export async function openWallet(given: WalletGiven): Promise<Signer> {
  const { readKeypair, createKeypairFile } = await loadKeypair();
  const { keypairFile, service } = given;
  if (!service?.faucet || !given.isDefault) return readKeypair(keypairFile);
  if (!existsSync(keypairFile)) {
    try {
      const wallet = createKeypairFile(keypairFile);
      await fund(wallet, service, given);
      return wallet;
    } catch (error) {
      // Another command made it at the same moment.
      if (!isProblem(error, 'keypair_exists')) throw error;
    }
  }
  const wallet = readKeypair(keypairFile);
  // The command that made the wallet was killed before funding it, or is funding it right now.
  const waitUntil = given.clock.now() + FUNDING_WAIT_MS;
  while (!(await isFunded(wallet, service))) {
    if (given.clock.now() >= waitUntil) {
      await fund(wallet, service, given);
      break;
    }
    await given.clock.sleep(100);
  }
  return wallet;
}

async function isFunded(wallet: Signer, service: Service): Promise<boolean> {
  const [account] = await service.cluster.accounts([wallet.address]);
  return account !== null && account !== undefined;
}

/** USDC first: the SOL account shows that the funding is complete. */
async function fund(wallet: Signer, { faucet }: Service, { terminal, keypairFile }: WalletGiven): Promise<void> {
  await faucet?.airdropUsdc(wallet.address, FIRST_USDC);
  await faucet?.airdropSol(wallet.address, FIRST_LAMPORTS);
  terminal.note('Made a wallet with 10 SOL and 10,000 USDC of play money');
  terminal.note(`  ${wallet.address}`);
  terminal.note(`  ${keypairFile}`);
}

/** The account of a wallet's USDC on a cluster. */
export async function usdcOf(
  { network, usdcMint: mint }: Pick<Cluster, 'network' | 'usdcMint'>,
  owner: Address,
): Promise<{ network: string; mint: Address; usdcAccount: Address }> {
  const { associatedTokenAddress } = await loadToken();
  return { network, mint, usdcAccount: await associatedTokenAddress(owner, mint) };
}
