import { formatUsdc } from '../../../kernel/money.ts';
import { loadKeypair } from '../../../solana/index.ts';
import { fieldLines, loadQr } from '../../../terminal/index.ts';
import { explorerOf } from '../../paying/index.ts';
import { usdcOf } from '../../session/index.ts';
import type { Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** Makes a keypair file; never overwrites an existing one. */
export const walletNew: Run<typeof spec.walletNew> = async ({ terminal, session, globals }) => {
  if (globals.dryRun) return printPlan(terminal, [`Create a keypair file at ${session.keypairFile} (mode 0600).`]);
  const { createKeypairFile } = await loadKeypair();
  const wallet = createKeypairFile(session.keypairFile);
  terminal.result(
    { address: wallet.address, keypair_file: session.keypairFile, created: true },
    {
      lines: (made, { paint }) =>
        fieldLines(paint.dim, [
          ['Address', paint.bold(made.address)],
          ['File', `${made.keypair_file} (only you can read it; back it up)`],
        ]),
    },
  );
  terminal.aside(['', ...nextLines('farelock wallet balance')]);
  return 0;
};

export const walletShow: Run<typeof spec.walletShow> = async ({ terminal, session }, { qr }) => {
  const wallet = await session.wallet();
  const { network, mint, usdcAccount } = await usdcOf(await session.cluster(), wallet.address);
  const explorer = explorerOf(session.profile);
  const { solanaPayUrl, qrLines } = qr === undefined ? NO_QR : await loadQr();
  const payUrl = typeof qr === 'bigint' ? solanaPayUrl(wallet.address, mint, formatUsdc(qr)) : null;
  const code = qr === undefined ? null : await qrLines(payUrl ?? wallet.address, terminal.screen);
  if (qr !== undefined && code === null) terminal.note('This terminal is too narrow for the QR code.');
  terminal.result(
    {
      address: wallet.address,
      keypair_file: session.keypairFile,
      network,
      usdc_mint: mint,
      usdc_account: usdcAccount,
      ...(payUrl === null ? {} : { pay_url: payUrl }),
    },
    {
      lines: (shown, { paint }) => [
        ...fieldLines(paint.dim, [
          ['Address', paint.bold(explorer(paint, shown.address, 'address', network))],
          ['File', shown.keypair_file],
          ['Network', `${shown.network}${session.isEmbedded ? ' (embedded)' : ''}`],
          ['USDC account', explorer(paint, shown.usdc_account, 'address', network)],
          ['To pay', shown.pay_url],
        ]),
        ...(code === null ? [] : ['', ...code]),
      ],
      // Without `rows`, a pipe gets the QR code too.
      ...(code === null ? { rows: (shown) => Object.entries(shown) } : {}),
    },
  );
  if (qr !== undefined && session.isEmbedded) {
    terminal.note('On the embedded cluster, only farelock wallet airdrop can fill it.');
  }
  return 0;
};

const NO_QR = { solanaPayUrl: () => '', qrLines: async () => null };
