import type { ParsedTransactionWithMeta } from '@solana/web3.js';
import type { PaymentRecord } from '../../../client/journal/store.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { type Explorer, explorerOf } from '../../paying/explorer.ts';
import type { View } from '../../screen/terminal.ts';
import { usdcOf } from '../../session/usdc.ts';
import { asked, connectWallet } from '../../session/wallet-connection.ts';
import type { Command } from '../../spec/command.ts';
import { shortened } from '../../view/payment.ts';
import { tableLines } from '../../view/table.ts';
import { cut } from '../../view/text.ts';
import { utcTime } from '../../view/times.ts';

interface WalletHistoryOptions {
  readonly limit: number;
}

interface HistoryEntry {
  readonly transaction: string;
  readonly at: string | null;
  /** Signed decimal USDC; null for a transaction that failed or can't be read. */
  readonly change: string | null;
  readonly memo: string | null;
  /** The payment of the journal that it belongs to, if it was signed here. */
  readonly payment_id: string | null;
  readonly resource: string | null;
}

/** Lists the movements of the wallet's USDC on the cluster, newest first, with what the journal knows of each. */
export const walletHistory: Command<WalletHistoryOptions> = async (context, { limit }) => {
  const { terminal, session, signal } = context;
  const wallet = await session.wallet();
  const { mint, usdcAccount } = await usdcOf(await session.cluster(), wallet.address);
  const journal = await (await session.store()).payments(1_000_000);
  const byTransaction = new Map(journal.map((one) => [one.transaction, one]));
  terminal.phase('Asking the cluster');
  const { connection, key } = await connectWallet(session);
  const landed = await asked(connection.getSignaturesForAddress(key(usdcAccount), { limit }));
  const history: HistoryEntry[] = [];
  for (const { signature, blockTime, memo, err } of landed) {
    if (signal.aborted) throw signal.reason;
    const found = err
      ? null
      : await asked(connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 }));
    history.push({
      transaction: signature,
      at: blockTime ? new Date(blockTime * 1000).toISOString() : null,
      change: found && changeOf(found, wallet.address, mint),
      memo: memo?.replace(/^\[\d+\] /, '') ?? null,
      ...journalled(byTransaction.get(signature)),
    });
  }
  terminal.result({ history }, historyView(explorerOf(session.profile), (await session.cluster()).network));
  if (history.length === limit) terminal.note(`The newest ${limit}; --limit shows more.`);
  return 0;
};

const journalled = (payment: PaymentRecord | undefined): Pick<HistoryEntry, 'payment_id' | 'resource'> => ({
  payment_id: payment?.payment_id ?? null,
  resource: payment?.resource ?? null,
});

function changeOf({ meta }: ParsedTransactionWithMeta, owner: string, mint: string): string | null {
  if (!meta) return null;
  const held = (balances: typeof meta.postTokenBalances): bigint =>
    (balances ?? [])
      .filter((one) => one.owner === owner && one.mint === mint)
      .reduce((sum, one) => sum + BigInt(one.uiTokenAmount.amount), 0n);
  const change = held(meta.postTokenBalances) - held(meta.preTokenBalances);
  return `${change > 0n ? '+' : ''}${formatUsdc(change)}`;
}

const historyView = (explorer: Explorer, network: string): View<{ history: readonly HistoryEntry[] }> => ({
  list: 'history',
  lines: ({ history }, { paint, width }) =>
    history.length === 0
      ? ['Nothing has moved this wallet’s USDC.']
      : tableLines(
          [{ title: 'When' }, { title: 'USDC', align: 'right' }, { title: 'Transaction' }, { title: 'For' }],
          history.map((one) => [
            one.at === null ? '–' : utcTime(one.at).replace(/ UTC$/, ''),
            one.change === null ? '–' : one.change.startsWith('+') ? paint.good(one.change) : one.change,
            explorer(paint, shortened(one.transaction), 'tx', network, one.transaction),
            cut(one.resource ?? one.memo ?? '', width - 55),
          ]),
          paint.dim,
        ),
  rows: ({ history }) =>
    history.map((one) => [one.at, one.change, one.transaction, one.payment_id, one.resource, one.memo]),
});
