import { formatUsdc } from '../../../kernel/money.ts';
import { listLines, utcMinute, type View } from '../../../terminal/index.ts';
import type { AuditTrail } from '../../../wire/flights/index.ts';
import type { Run } from '../../spec/index.ts';
import type * as spec from './spec.ts';

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
  lines: ({ entries, next_cursor }, screen) =>
    entries.length === 0
      ? ['No activity.']
      : [
          ...listLines(screen, entries, [
            { title: 'When, UTC', cell: ({ at }) => utcMinute(at) },
            { title: 'Operator', cuts: true, cell: ({ operator }) => operator },
            { title: 'Action', cuts: true, cell: ({ action }) => action },
            { title: 'USDC', align: 'right', cell: (one) => amountOf(one) ?? '–' },
            { title: 'Subject', cuts: true, cell: ({ subject }) => subject },
          ]),
          ...(next_cursor === null ? [] : [screen.paint.dim(`More: --cursor ${next_cursor}`)]),
        ],
  rows: ({ entries }) => entries.map((one) => [one.at, one.operator, one.action, one.subject, amountOf(one)]),
};
