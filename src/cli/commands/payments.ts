import type { PaymentRecord } from '../../client/store.ts';
import { problem } from '../../kernel/problems.ts';
import type { Command } from '../context.ts';
import type { Screen, View } from '../terminal.ts';
import { money } from '../view/fares.ts';
import { fieldLines, tableLines } from '../view/table.ts';
import { cut } from '../view/text.ts';
import { utcTime } from '../view/times.ts';

export interface PaymentsShowOptions {
  readonly paymentId: string;
}

export interface PaymentsListOptions {
  readonly limit: number;
}

/** The journal of payments, newest first. */
export const paymentsList: Command<PaymentsListOptions> = async ({ terminal, session }, { limit }) => {
  const payments = await (await session.store()).payments(limit);
  terminal.result({ payments }, paymentsView);
  if (payments.length === limit) terminal.note(`The newest ${limit}; --limit shows more.`);
  return 0;
};

/** One payment of the journal. */
export const paymentsShow: Command<PaymentsShowOptions> = async ({ terminal, session }, { paymentId }) => {
  const payment = await (await session.store()).payment(paymentId);
  if (!payment) {
    throw problem('not_found', {
      message: `There is no payment ${paymentId} in the journal.`,
      fix: 'Look it up in the list.',
      next: ['farelock payments list'],
    });
  }
  terminal.result(payment, { lines: paymentLines });
  return 0;
};

const paymentsView: View<{ payments: PaymentRecord[] }> = {
  list: 'payments',
  lines: ({ payments }, { paint, width }) => {
    if (payments.length === 0) return ['No payments made from here.'];
    const roomy = width >= 120;
    return tableLines(
      [
        ...(roomy ? [{ title: 'Payment' }] : []),
        { title: 'When' },
        { title: 'State' },
        { title: 'USDC', align: 'right' },
        { title: 'For' },
      ],
      payments.map((payment) => [
        ...(roomy ? [payment.payment_id] : []),
        utcTime(payment.created_at).replace(/ UTC$/, ''),
        stateText(payment, paint),
        money(payment.amount),
        cut(payment.resource, width - (roomy ? 70 : 38)),
      ]),
      paint.dim,
    );
  },
  rows: ({ payments }) =>
    payments.map((payment) => [
      payment.payment_id,
      payment.created_at,
      payment.state,
      payment.amount,
      payment.resource,
      payment.host,
      payment.transaction,
    ]),
};

const stateText = ({ state }: PaymentRecord, paint: Screen['paint']): string => {
  if (state === 'answered') return paint.good('paid');
  return state === 'signed' || state === 'sent' ? paint.warn(state) : paint.dim(state);
};

function paymentLines(payment: PaymentRecord, { paint }: Screen): string[] {
  return [
    `${paint.bold(`${money(payment.amount)} USDC`)}  ${stateText(payment, paint)}`,
    ...fieldLines(
      [
        ['Payment', payment.payment_id],
        ['For', `${payment.resource} at ${payment.host}`],
        ['From', payment.wallet],
        ['To', payment.pay_to],
        ['Transaction', payment.transaction],
        ['Network', payment.network],
        ['Problem', payment.error_code],
        ['Made', utcTime(payment.created_at)],
        ['Last change', utcTime(payment.updated_at)],
      ],
      paint.dim,
    ),
  ];
}
