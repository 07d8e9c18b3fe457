import type { AuditTrail } from '../../../flights/wire.ts';
import type { View } from '../../screen/terminal.ts';
import type { Command } from '../../spec/command.ts';
import { tableLines } from '../../view/table.ts';
import { utcTime } from '../../view/times.ts';

interface AuditOptions {
  readonly subject?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

/** The audit trail, newest first. */
export const auditList: Command<AuditOptions> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).audit(query, { signal }), view);
  return 0;
};

const view: View<AuditTrail> = {
  list: 'entries',
  lines: ({ entries, next_cursor }, { paint, width }) =>
    entries.length === 0
      ? ['No activity.']
      : [
          ...tableLines(
            [
              { title: 'At' },
              { title: 'Operator', cuts: true },
              { title: 'Action', cuts: true },
              { title: 'Subject' },
            ],
            entries.map((one) => [utcTime(one.at), one.operator, one.action, one.subject]),
            paint.dim,
            width,
          ),
          ...(next_cursor === null ? [] : [paint.dim(`More: --cursor ${next_cursor}`)]),
        ],
  rows: ({ entries }) => entries.map((one) => [one.at, one.operator, one.action, one.subject]),
};
