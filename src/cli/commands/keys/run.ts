import { HOUR_MS, MINUTE_MS } from '../../../kernel/clock.ts';
import {
  fieldLines,
  fromNow,
  type Paint,
  type Screen,
  tableLines,
  utcTime,
  type View,
} from '../../../terminal/index.ts';
import type { OperatorKeys } from '../../../wire/flights/index.ts';
import type { IssuedPartnerKey, PartnerKey } from '../../../wire/partner/index.ts';
import type { Run } from '../../spec/index.ts';
import { printPlan } from '../../view/index.ts';
import type * as spec from './spec.ts';

/** The operator keys, by name; never the keys themselves. */
export const keysList: Run<typeof spec.keysList> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).keys(query, { signal }), keysView);
  return 0;
};

/** Issues a key. It is shown this once. */
export const keysIssue: Run<typeof spec.keysIssue> = async (context, { name }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) return printPlan(terminal, [`Issue an operator key named ${name}, and show it once.`]);
  const issued = await (await session.operator()).issueKey(name, { signal });
  terminal.result(issued, {
    lines: ({ key, key_id }, { paint }) => [
      key,
      ...fieldLines(paint.dim, [
        ['Key id', key_id],
        ['Name', issued.name],
      ]),
    ],
  });
  terminal.aside(['', 'It will not be shown again. Use it as FARELOCK_OPERATOR_KEY.']);
  return 0;
};

/** Revokes a key at once; the last one is kept. */
export const keysRevoke: Run<typeof spec.keysRevoke> = async (context, { keyId }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) return printPlan(terminal, [`Revoke the operator key ${keyId} at once.`]);
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

/** The keys of partners, by name; never the keys themselves. */
export const partnerKeysList: Run<typeof spec.keysPartnerList> = async ({ terminal, session, signal, clock }) => {
  terminal.result(await (await session.partnerDesk()).keys({ signal }), partnerKeysView(clock.now()));
  return 0;
};

/** Issues a key to a partner. It is shown this once. */
export const partnerKeysIssue: Run<typeof spec.keysPartnerIssue> = async (context, { partnerId, name }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun)
    return printPlan(terminal, [`Issue a key named ${name} to ${partnerId}, and show it once.`]);
  const issued = await (await session.partnerDesk()).issueKey(partnerId, name, { signal });
  terminal.result(issued, { lines: issuedPartnerKeyLines });
  terminal.aside(['', 'It is not shown again. The partner uses it as FARELOCK_API_KEY.']);
  return 0;
};

/** Makes a partner's key worthless at once. */
export const partnerKeysRevoke: Run<typeof spec.keysPartnerRevoke> = async (context, { keyId }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) return printPlan(terminal, [`Revoke the partner key ${keyId} at once.`]);
  const revoked = await (await session.partnerDesk()).revokeKey(keyId, { signal });
  terminal.result(revoked, { lines: ({ name }, { paint }) => [`${paint.good('✓')} Revoked ${name}`] });
  return 0;
};

/** Puts a new key in the place of one, which goes on for a while. The new one is shown this once. */
export const partnerKeysRotate: Run<typeof spec.keysPartnerRotate> = async (context, { keyId, overlap }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun)
    return printPlan(terminal, [`Issue a key to replace ${keyId}, which keeps working for ${overlap / HOUR_MS} h.`]);
  const issued = await (await session.partnerDesk()).rotateKey(keyId, overlap / HOUR_MS, { signal });
  terminal.result(issued, { lines: issuedPartnerKeyLines });
  const until = overlap === 0 ? 'The old key no longer works.' : `${keyId} keeps working for ${overlap / HOUR_MS} h.`;
  terminal.aside(['', `It is not shown again. ${until}`]);
  return 0;
};

/** A short-lived token for one customer. It is shown this once. */
export const customerTokenIssue: Run<typeof spec.keysToken> = async (context, { customerId, ttl }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) return printPlan(terminal, [`Issue a token for ${customerId}, and show it once.`]);
  const minutes = ttl === undefined ? undefined : Math.max(1, Math.round(ttl / MINUTE_MS));
  const issued = await (await session.partnerDesk()).customerToken(customerId, minutes, { signal });
  terminal.result(issued, {
    lines: ({ token, customer_id, expires_at }, { paint }) => [
      token,
      ...fieldLines(paint.dim, [
        ['Customer', customer_id],
        ['Works until', utcTime(expires_at)],
      ]),
    ],
  });
  terminal.aside(['', 'It is not shown again. Use it as FARELOCK_CUSTOMER_TOKEN.']);
  return 0;
};

/** The keys of partners, by name; never the keys themselves. */
const partnerKeysView = (nowMs: number): View<{ keys: readonly PartnerKey[] }> => ({
  list: 'keys',
  lines: ({ keys }, { paint, width }) =>
    keys.length === 0
      ? ['No partner keys.']
      : tableLines(
          [
            { title: 'Key' },
            { title: 'Partner' },
            { title: 'Name', cuts: true },
            { title: 'Last used' },
            { title: 'State' },
          ],
          keys.map((key) => [
            key.key_id,
            key.partner_id,
            key.name,
            key.last_used_at === null ? '–' : fromNow(key.last_used_at, nowMs),
            stateText(key, nowMs, paint),
          ]),
          paint.dim,
          width,
        ),
  rows: ({ keys }) =>
    keys.map((key) => [
      key.key_id,
      key.partner_id,
      key.environment,
      key.name,
      key.last_used_at,
      key.expires_at,
      key.revoked_at,
    ]),
});

function stateText(key: PartnerKey, nowMs: number, paint: Paint): string {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at === null) return paint.good('works');
  return Date.parse(key.expires_at) <= nowMs ? 'rotated out' : paint.warn(`works until ${utcTime(key.expires_at)}`);
}

/** A new key, the only time that it is shown. */
const issuedPartnerKeyLines = (issued: IssuedPartnerKey, { paint }: Screen): string[] => [
  issued.key,
  ...fieldLines(paint.dim, [
    ['Key id', issued.key_id],
    ['Partner', issued.partner_id],
    ['Environment', issued.environment],
    ['Name', issued.name],
  ]),
];
