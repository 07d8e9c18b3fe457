import { formatUsdc } from '../../../kernel/money.ts';
import { tableLines, utcTime, type View } from '../../../terminal/index.ts';
import type { AuditTrail } from '../../../wire/flights/index.ts';
import type { Run } from '../../spec/index.ts';
import type * as spec from './spec.ts';

/** The audit trail, newest first. */
export const auditList: Run<typeof spec.auditList> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).audit(query, { signal }), view);
  return 0;
};

/** Decimal USDC that an act moves or decides about; null where it is about no money. */
function amountOf({ detail }: AuditTrail['entries'][number]): string | null {
  const amount = detail.payout_amount ?? detail.amount;
  return typeof amount === 'number' && Number.isSafeInteger(amount) ? formatUsdc(BigInt(amount)) : null;
}

const view: View<AuditTrail> = {
  list: 'entries',
  lines: ({ entries, next_cursor }, { paint, width }) =>
    entries.length === 0
      ? ['No activity.']
      : [
          ...tableLines(
            [
              { title: 'When, UTC' },
              { title: 'Operator', cuts: true },
              { title: 'Action', cuts: true },
              { title: 'USDC', align: 'right' },
              { title: 'Subject', cuts: true },
            ],
            entries.map((one) => [
              utcTime(one.at).replace(/(:\d\d)? UTC$/, ''),
              one.operator,
              one.action,
              amountOf(one) ?? '–',
              one.subject,
            ]),
            paint.dim,
            width,
          ),
          ...(next_cursor === null ? [] : [paint.dim(`More: --cursor ${next_cursor}`)]),
        ],
  rows: ({ entries }) => entries.map((one) => [one.at, one.operator, one.action, one.subject, amountOf(one)]),
};
