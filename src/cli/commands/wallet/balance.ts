import { formatSol, formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import type { Usdc } from '../../../kernel/usdc.ts';
import { fieldLines } from '../../../terminal/index.ts';
import { asked, connectWallet, usdcOf, type WalletConnection } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines, printPlan, shortened } from '../../view/index.ts';
import type * as spec from './spec.ts';

export const walletBalance: Run<typeof spec.walletBalance> = async ({ terminal, session }) => {
  const wallet = await session.wallet();
  const { network, mint } = await usdcOf(await session.cluster(), wallet.address);
  terminal.phase('Asking the cluster');
  const { connection, key } = await connectWallet(session);
  const owner = key(wallet.address);
  const lamports = await asked(connection.getBalance(owner));
  const held = await asked(connection.getParsedTokenAccountsByOwner(owner, { mint: key(mint) }));
  const usdc = held.value.reduce((sum, account) => sum + tokenAmount(account.account.data.parsed), 0n);
  terminal.result(
    {
      address: wallet.address,
      network,
      sol: formatSol(BigInt(lamports)),
      lamports,
      usdc: formatUsdc(usdc),
      usdc_atomic: Number(usdc),
    },
    {
      lines: (balance, { paint }) =>
        fieldLines(paint.dim, { USDC: paint.bold(balance.usdc), SOL: balance.sol, Address: balance.address }),
      rows: (balance) => [
        ['USDC', balance.usdc],
        ['SOL', balance.sol],
      ],
    },
  );
  return 0;
};

function tokenAmount(parsed: unknown): bigint {
  const info = (parsed as { info?: { tokenAmount?: { amount?: string } } } | null)?.info;
  return BigInt(info?.tokenAmount?.amount ?? '0');
}

const MOST_POLLS = 60;

/** Takes SOL by requestAirdrop, and USDC by a method of the embedded cluster. */
export const walletAirdrop: Run<typeof spec.walletAirdrop> = async (context, options) => {
  const { terminal, session } = context;
  const neither = options.sol === undefined && options.usdc === undefined;
  const sol = options.sol ?? (neither ? 1_000_000_000n : 0n);
  const usdc = options.usdc ?? (neither ? 1_000_000_000n : 0n);
  if (sol === 0n && usdc === 0n) {
    throw problem('usage', { message: 'Nothing to ask the faucet for.', fix: 'Give an amount above 0.' });
  }
  const wallet = await session.wallet();
  if (context.globals.dryRun)
    return printPlan(terminal, [
      (words) => `Ask the faucet for ${amountsText(sol, usdc, words)} to ${wallet.address}.`,
    ]);
  terminal.phase('Asking the faucet');
  const wired = await connectWallet(session);
  const transactions: string[] = [];
  if (sol > 0n) {
    transactions.push(await asked(wired.connection.requestAirdrop(wired.key(wallet.address), Number(sol))));
  }
  if (usdc > 0n) {
    const signature = await wired.call('farelock_airdropUsdc', [wallet.address, Number(usdc)]);
    if (typeof signature === 'string') transactions.push(signature);
  }
  for (const transaction of transactions) await landed(context, wired, transaction);
  terminal.result(
    { address: wallet.address, sol: formatSol(sol), usdc: formatUsdc(usdc), transactions },
    {
      lines: (given, { paint, width }) => [
        `${paint.good('✓')} ${amountsText(sol, usdc, paint.usdc)} to ${given.address}`,
        ...given.transactions.map((one) => paint.dim(`  ${one.length + 2 <= width ? one : shortened(one)}`)),
      ],
    },
  );
  terminal.aside(['', ...nextLines('farelock wallet balance')]);
  return 0;
};

const amountsText = (sol: bigint, amount: bigint, usdc: Usdc): string =>
  [sol > 0n && `${formatSol(sol)} SOL`, amount > 0n && usdc(amount)].filter(Boolean).join(' and ');

async function landed(
  { clock, signal }: CommandContext,
  { connection }: WalletConnection,
  transaction: string,
): Promise<void> {
  for (let poll = 0; poll < MOST_POLLS && !signal.aborted; poll++) {
    const { value } = await asked(connection.getSignatureStatuses([transaction], { searchTransactionHistory: true }));
    const [found] = value;
    if (found?.err) throw problem('transaction_failed', { detail: { error: found.err } });
    if (found) return;
    await clock.sleep(500, signal);
  }
  if (signal.aborted) throw signal.reason;
  throw problem('timed_out', { message: 'The faucet’s transaction has not landed yet.', detail: { transaction } });
}
