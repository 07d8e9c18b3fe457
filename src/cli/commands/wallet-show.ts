import type { Command } from '../context.ts';
import { usdcOf } from '../usdc.ts';
import { fieldLines } from '../view/table.ts';

/** The wallet that this profile pays with. */
export const walletShow: Command<object> = async ({ terminal, session }) => {
  const wallet = await session.wallet();
  const { network, mint, usdcAccount } = await usdcOf(await session.cluster(), wallet.address);
  terminal.result(
    {
      address: wallet.address,
      keypair_file: session.keypairFile,
      network,
      usdc_mint: mint,
      usdc_account: usdcAccount,
    },
    {
      lines: (shown, { paint }) =>
        fieldLines(
          [
            ['Address', paint.bold(shown.address)],
            ['File', shown.keypair_file],
            ['Network', `${shown.network}${session.isEmbedded ? ' (embedded)' : ''}`],
            ['USDC account', shown.usdc_account],
          ],
          paint.dim,
        ),
      rows: (shown) => Object.entries(shown),
    },
  );
  return 0;
};
