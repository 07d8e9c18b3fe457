import type { SignedPayment } from '../../../client/journal/index.ts';
import { loadPayerVerify, type PaymentVerification, type Verdict } from '../../../client/payer/index.ts';
import { problem } from '../../../kernel/problems.ts';
import { listLines, listView, type Screen } from '../../../terminal/index.ts';
import { memoFinder } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { unknownPayment } from './run.ts';
import type * as spec from './spec.ts';

/** Compares one payment, or the newest ones, with the cluster; exit 6 where they differ. */
export const paymentsVerify: Run<typeof spec.paymentsVerify> = async (context, { paymentId, limit }) => {
  const { terminal, session, signal } = context;
  const payments = await chosen(context, paymentId, limit);
  const cluster = await session.cluster();
  const elsewhere = payments.filter(({ record }) => record.network !== cluster.network);
  if (paymentId !== undefined && elsewhere.length > 0) {
    throw problem('usage', {
      message: `Payment ${paymentId} was made on ${elsewhere[0]?.record.network}, not on this profile's cluster.`,
      fix: 'Choose the profile of that cluster with --profile.',
    });
  }
  const { verifyPayment } = await loadPayerVerify();
  const findByMemo = memoFinder(session);
  const verified: PaymentVerification[] = [];
  for (const payment of payments) {
    if (elsewhere.includes(payment)) continue;
    if (signal.aborted) throw signal.reason;
    terminal.phase(`Verifying ${payment.record.payment_id}`);
    verified.push(await verifyPayment({ cluster, findByMemo }, payment));
  }
  const wrong = verified.filter((one) => one.verdict === 'mismatch').map((one) => one.payment_id);
  // Under --json there is only one document: for a mismatch, the error with the findings.
  if (wrong.length === 0 || !terminal.settings.json) {
    terminal.result({ payments: verified }, paymentId === undefined ? manyView : oneView);
  }
  if (elsewhere.length > 0) terminal.note(`${elsewhere.length} of other clusters were left out.`);
  if (wrong.length === 0) return 0;
  throw problem('payment_unverified', { detail: { payments: wrong, verified } });
};

async function chosen(
  { session }: CommandContext,
  paymentId: string | undefined,
  limit: number,
): Promise<SignedPayment[]> {
  const store = await session.store();
  const ids = paymentId === undefined ? (await store.payments(limit)).map((one) => one.payment_id) : [paymentId];
  const found = await Promise.all(ids.map((id) => store.signedPayment(id)));
  if (paymentId !== undefined && !found[0]) throw unknownPayment(paymentId);
  return found.filter((one) => one !== undefined);
}

const said: Record<Verdict, string> = {
  landed: 'as signed',
  mismatch: 'not what was signed',
  not_landed: 'never landed',
  waiting: 'not landed yet',
};

const mark = (verdict: Verdict, { paint }: Screen): string => {
  if (verdict === 'mismatch') return paint.bad('✗');
  return verdict === 'landed' ? paint.good('✓') : paint.dim('–');
};

const manyView = listView('payments', {
  none: 'No payments made from here.',
  columns: (screen) => [
    { title: ' ', cell: ({ verdict }) => mark(verdict, screen) },
    { title: 'Payment', cell: (one) => one.payment_id },
    { title: 'On the cluster', cell: ({ verdict }) => said[verdict] },
  ],
  row: (one: PaymentVerification) => [one.payment_id, one.verdict, one.transaction, one.memo],
});

const oneView: typeof manyView = {
  ...manyView,
  lines: ({ payments }, screen) =>
    payments.flatMap((one) => [
      `${screen.paint.bold(one.payment_id)}  ${said[one.verdict]}`,
      ...(one.transaction ? [screen.paint.dim(one.transaction)] : []),
      ...listLines({ paint: screen.paint }, one.checks, [
        { title: ' ', cell: ({ ok }) => (ok ? screen.paint.good('✓') : screen.paint.bad('✗')) },
        { title: 'Check', cell: ({ check }) => check.replaceAll('_', ' ') },
        { title: 'On chain', cell: ({ found }) => found },
        { title: '', cell: ({ ok, expected }) => (ok ? '' : `expected ${expected}`) },
      ]),
    ]),
};
