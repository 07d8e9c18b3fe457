import { fieldLines, tableLines } from '../../../terminal/table.ts';
import type { View } from '../../../terminal/terminal.ts';
import { utcTime } from '../../../terminal/times.ts';
import type { OperatorKeys } from '../../../wire/flights/index.ts';
import type { Command } from '../../spec/command.ts';
import { printPlan } from '../../view/plan.ts';

interface KeysListOptions {
  readonly limit?: number;
  readonly cursor?: string;
}

interface KeysIssueOptions {
  readonly name: string;
}

interface KeysRevokeOptions {
  readonly keyId: string;
}

/** The operator keys, by name; never the keys themselves. */
export const keysList: Command<KeysListOptions> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).keys(query, { signal }), keysView);
  return 0;
};

/** Issues a key. It is shown this once. */
export const keysIssue: Command<KeysIssueOptions> = async (context, { name }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Issue an operator key named ${name}, and show it once.`]);
    return 0;
  }
  const issued = await (await session.operator()).issueKey(name, { signal });
  terminal.result(issued, {
    lines: ({ key, key_id }, { paint }) => [
      key,
      ...fieldLines(
        [
          ['Key id', key_id],
          ['Name', issued.name],
        ],
        paint.dim,
      ),
    ],
  });
  terminal.aside(['', 'It will not be shown again. Use it as FARELOCK_OPERATOR_KEY.']);
  return 0;
};

/** Revokes a key at once; the last one is kept. */
export const keysRevoke: Command<KeysRevokeOptions> = async (context, { keyId }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Revoke the operator key ${keyId} at once.`]);
    return 0;
  }
  const revoked = await (await session.operator()).revokeKey(keyId, { signal });
  terminal.result(revoked, { lines: ({ name }, { paint }) => [`${paint.good('✓')} Revoked ${name}`] });
  return 0;
};

const keysView: View<OperatorKeys> = {
  list: 'keys',
  lines: ({ keys, next_cursor }, { paint, width }) => [
    ...tableLines(
      [{ title: 'Key' }, { title: 'Name', cuts: true }, { title: 'Last used' }, { title: 'State' }],
      keys.map((key) => [
        key.key_id,
        key.name,
        key.last_used_at === null ? '–' : utcTime(key.last_used_at),
        key.revoked_at === null ? paint.good('works') : 'revoked',
      ]),
      paint.dim,
      width,
    ),
    ...(next_cursor === null ? [] : [paint.dim(`More: --cursor ${next_cursor}`)]),
  ],
  rows: ({ keys }) => keys.map((key) => [key.key_id, key.name, key.last_used_at, key.revoked_at]),
};
