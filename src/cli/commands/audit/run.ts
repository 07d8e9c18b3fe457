import { formatUsdc } from '../../../kernel/money.ts';
import { listView, utcMinute } from '../../../terminal/index.ts';
import type { AuditTrail } from '../../../wire/flights/index.ts';
import type { Run } from '../../spec/index.ts';
import type * as spec from './spec.ts';

export const auditList: Run<typeof spec.auditList> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).audit(query, { signal }), view);
  return 0;
};

type Entry = AuditTrail['entries'][number];

/** Decimal USDC that an act moves or decides about; null for an act without money. */
function amountOf({ detail }: Entry): string | null {
  const amount = detail.payout_amount ?? detail.amount;
  return typeof amount === 'number' && Number.isSafeInteger(amount) ? formatUsdc(BigInt(amount)) : null;
}

const view = listView('entries', {
  none: 'No activity.',
  columns: () => [
    { title: 'When, UTC', cell: ({ at }) => utcMinute(at) },
    { title: 'Operator', cuts: true, cell: ({ operator }) => operator },
    { title: 'Action', cuts: true, cell: ({ action }) => action },
    { title: 'USDC', align: 'right', cell: (one) => amountOf(one) ?? '–' },
    { title: 'Subject', cuts: true, cell: ({ subject }) => subject },
  ],
  row: (one: Entry) => [one.at, one.operator, one.action, one.subject, amountOf(one)],
});
