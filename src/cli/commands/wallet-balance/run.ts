import { formatUsdc } from '../../../kernel/money.ts';
import { fieldLines } from '../../../terminal/table.ts';
import { usdcOf } from '../../session/usdc.ts';
import { asked, connectWallet } from '../../session/wallet-connection.ts';
import type { Command } from '../../spec/command.ts';
import { formatSol } from '../../view/wallet.ts';

/** SOL and USDC of the wallet, as the cluster has them. */
export const walletBalance: Command<object> = async ({ terminal, session }) => {
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
        fieldLines(
          [
            ['USDC', paint.bold(balance.usdc)],
            ['SOL', balance.sol],
            ['Address', balance.address],
          ],
          paint.dim,
        ),
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
