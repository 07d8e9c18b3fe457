import type { PaymentRecord } from '../../../client/journal/index.ts';
import { loadPayerVerify } from '../../../client/payer/index.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { fieldLines, listView, type Screen, utcMinute, utcTime } from '../../../terminal/index.ts';
import { type Explorer, explorerOf, paidForWords } from '../../paying/index.ts';
import type { Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { money, nextLines } from '../../view/index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

export const paymentsList: Run<typeof spec.paymentsList> = async (context, { chain, limit = chain ? 20 : 100 }) => {
  if (chain) return (await import('./history.ts')).walletHistory(context, { limit });
  const { terminal, session } = context;
  const store = await session.store();
  const payments: ListedPayment[] = [];
  for (const payment of await store.payments(limit))
    payments.push({ ...payment, purpose: await paidForWords(store, session, payment) });
  terminal.result({ payments }, paymentsView);
  if (payments.length === limit) terminal.note(`The newest ${limit}; --limit shows more.`);
  terminal.aside(['Refunds and deposits too: farelock payments list --chain']);
  return 0;
};

export const paymentsShow: Run<typeof spec.paymentsShow> = async ({ terminal, session }, { paymentId }) => {
  const store = await session.store();
  const signed = await store.signedPayment(paymentId);
  if (!signed) throw unknownPayment(paymentId);
  const { contentOfPayload } = await loadPayerVerify();
  const { memo, feePayer } = contentOfPayload(signed.payment.payload);
  const payment: ShownPayment = {
    ...signed.record,
    purpose: await paidForWords(store, session, signed.record),
    memo,
    fee_payer: feePayer,
    last_valid_block_height: Number(signed.payment.lastValidBlockHeight),
  };
  const explorer = explorerOf(session.profile);
  terminal.result(payment, { lines: (shown, screen) => paymentLines(shown, screen, explorer) });
  if (payment.open || payment.answer_kept) terminal.aside(nextLines(`farelock payments resume ${paymentId}`));
  else if (payment.transaction) terminal.aside(nextLines(`farelock payments verify ${paymentId}`));
  return 0;
};

type ListedPayment = DocumentOf<typeof result.paymentsList>['payments'][number];
type ShownPayment = DocumentOf<typeof result.paymentsShow>;

export const unknownPayment = (paymentId: string) =>
  problem('not_found', {
    message: `There is no payment ${paymentId} in the journal.`,
    fix: 'Look it up in the list.',
    next: [farelock`payments list`],
  });

const paymentsView = listView('payments', {
  none: 'No payments made from here.',
  columns: ({ paint }) => [
    { title: 'Payment', rank: 1, cell: (one) => one.payment_id },
    { title: 'When, UTC', cell: (one) => utcMinute(one.created_at) },
    { title: 'State', cell: (one) => stateText(one, paint) },
    { title: 'USDC', align: 'right', cell: ({ amount }) => money(amount) },
    { title: 'For', cuts: true, cell: ({ purpose }) => purpose },
  ],
  row: (one: ListedPayment) => [
    one.payment_id,
    one.created_at,
    one.state,
    one.amount,
    one.resource,
    one.host,
    one.transaction,
    one.purpose,
  ],
});

const stateText = ({ state, open, answer_kept: isKept }: PaymentRecord, paint: Screen['paint']): string => {
  if (isKept) return paint.warn('paid, not shown');
  if (state === 'answered') return paint.good('paid');
  return open ? paint.warn('unanswered') : paint.dim(state);
};

function paymentLines(payment: ShownPayment, { paint }: Screen, explorer: Explorer): string[] {
  const { network } = payment;
  return [
    `${paint.bold(paint.usdc(money(payment.amount)))}  ${stateText(payment, paint)}`,
    ...fieldLines(paint.dim, [
      ['Payment', payment.payment_id],
      ['For', payment.purpose],
      ['Call', `${payment.resource} at ${payment.host}`],
      ['From', explorer(paint, payment.wallet, 'address', network)],
      ['To', explorer(paint, payment.pay_to, 'address', network)],
      ['Memo', payment.memo],
      ['Fee payer', payment.fee_payer],
      ['Transaction', payment.transaction && explorer(paint, payment.transaction, 'tx', network)],
      ['Network', payment.network],
      ['Problem', payment.error_code],
      ['Created', utcTime(payment.created_at)],
      ['Last change', utcTime(payment.updated_at)],
    ]),
  ];
}
