import type { ParsedTransactionWithMeta } from '@solana/web3.js';
import type { ClientStore, NotedIntent } from '../../../client/journal/index.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { listLines, type Paint, utcMinute, type View } from '../../../terminal/index.ts';
import { type Explorer, explorerOf, journeyWords, paidForWords } from '../../paying/index.ts';
import { asked, connectWallet, usdcOf } from '../../session/index.ts';
import type { Run } from '../../spec/index.ts';
import { shortened } from '../../view/index.ts';
import type { HistoryEntry } from './result.ts';
import type * as spec from './spec.ts';

export const walletHistory: Run<typeof spec.walletHistory> = async ({ terminal, session, signal }, { limit }) => {
  const wallet = await session.wallet();
  const { mint, usdcAccount } = await usdcOf(await session.cluster(), wallet.address);
  const store = await session.store();
  terminal.phase('Asking the cluster');
  const { connection, key } = await connectWallet(session);
  const landed = await asked(connection.getSignaturesForAddress(key(usdcAccount), { limit }));
  const memos = landed.map(({ memo }) => memo?.replace(/^\[\d+\] /, '') ?? null);
  const paidOut = await store.notedPaidOut(memos.filter(isPayout));
  const history: HistoryEntry[] = [];
  for (const [place, { signature, blockTime, err }] of landed.entries()) {
    const memo = memos[place] ?? null;
    if (signal.aborted) throw signal.reason;
    const found = err
      ? null
      : await asked(connection.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 }));
    const change = found && changeOf(found, wallet.address, mint);
    const payment = await store.paymentOf(signature);
    history.push({
      transaction: signature,
      at: blockTime ? new Date(blockTime * 1000).toISOString() : null,
      change,
      memo,
      payment_id: payment?.payment_id ?? null,
      resource: payment?.resource ?? null,
      ...(payment
        ? { kind: 'payment' as const, intent_id: null, purpose: await paidForWords(store, session, payment) }
        : await movement(found, change, store, paidOut.get(memo ?? ''))),
    });
  }
  terminal.result({ history }, historyView(explorerOf(session.profile), (await session.cluster()).network));
  if (history.length === limit) terminal.note(`The newest ${limit}; --limit shows more.`);
  return 0;
};

const isPayout = (memo: string | null): memo is string => memo?.startsWith('farelock payout ') === true;

/**
 * Describes a movement that is not a payment in the journal: an escrow's, an operator's pay-out, the faucet's.
 * @param paidOut the intent of this home to which the operator's pay-out belongs
 */
async function movement(
  found: ParsedTransactionWithMeta | null,
  change: string | null,
  store: ClientStore,
  paidOut: NotedIntent | undefined,
): Promise<Pick<HistoryEntry, 'kind' | 'intent_id' | 'purpose'>> {
  if (paidOut) return { kind: 'payout', intent_id: paidOut.intentId, purpose: `pay-out ${journeyWords(paidOut)}` };
  if (!found) return { kind: null, intent_id: null, purpose: null };
  const { accountKeys, instructions } = found.transaction.message;
  const touched = accountKeys.map(({ pubkey }) => pubkey.toBase58());
  const escrowed = await store.notedOf({ by: 'escrow', is: touched });
  if (escrowed) {
    const { intentId } = escrowed;
    const journey = journeyWords(escrowed);
    if (change?.startsWith('+'))
      return { kind: 'refund', intent_id: intentId, purpose: `refund from escrow ${journey}` };
    const terms = (await store.intent(intentId))?.terms;
    const amount = formatUsdc(BigInt(terms?.escrow?.amount ?? 0));
    return { kind: 'capture', intent_id: intentId, purpose: `ticketed ${journey}: ${amount} to the seller` };
  }
  const isMinted = instructions.some(
    (one) => 'parsed' in one && ['mintTo', 'mintToChecked'].includes(String(one.parsed?.type)),
  );
  if (isMinted) return { kind: 'faucet', intent_id: null, purpose: 'play money from the faucet' };
  const kind = change?.startsWith('+') ? 'received' : change?.startsWith('-') ? 'sent' : null;
  return { kind, intent_id: null, purpose: kind };
}

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
  lines: ({ history }, screen) => {
    // Entries without a movement and without words are noise on a screen; a pipe and --json have them.
    const shown = history.filter(({ change, purpose }) => purpose !== null || Number(change) !== 0);
    if (shown.length === 0) return ['Nothing has moved this wallet’s USDC.'];
    const { paint } = screen;
    const purposeOf = ({ change, purpose, memo }: HistoryEntry) =>
      change === null ? 'failed, nothing moved' : (purpose ?? memo ?? '');
    return listLines(screen, shown, [
      { title: 'When, UTC', cell: ({ at }) => (at === null ? '–' : utcMinute(at)) },
      { title: 'USDC', align: 'right', cell: ({ change }) => amountText(change, paint) },
      { title: 'For', cuts: true, cell: purposeOf },
      {
        title: 'Transaction',
        rank: 1,
        cell: ({ transaction: id }) => explorer(paint, shortened(id), 'tx', network, id),
      },
    ]);
  },
  rows: ({ history }) =>
    history.map((one) => [
      one.at,
      one.change,
      one.transaction,
      one.payment_id,
      one.kind,
      one.intent_id,
      one.memo,
      one.purpose,
    ]),
});

const amountText = (change: string | null, paint: Paint): string =>
  change === null || Number(change) === 0 ? '–' : change.startsWith('+') ? paint.good(change) : change;
