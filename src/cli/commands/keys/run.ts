import { HOUR_MS, MINUTE_MS } from '../../../kernel/clock.ts';
import { fieldLines, fromNow, listView, type Paint, utcTime, type View } from '../../../terminal/index.ts';
import type { OperatorKey } from '../../../wire/flights/index.ts';
import type { IssuedPartnerKey, PartnerKey } from '../../../wire/partner/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { printPlan } from '../../view/index.ts';
import type * as spec from './spec.ts';

async function change<T extends object>(
  { globals, terminal }: CommandContext,
  step: string,
  make: () => Promise<T>,
  view: View<T>,
  note?: string,
): Promise<0> {
  if (globals.dryRun) return printPlan(terminal, [step]);
  terminal.result(await make(), view);
  if (note !== undefined) terminal.aside(['', note]);
  return 0;
}

/** Shows a secret, this one time, above its facts. */
const secretView = <T>(view: (issued: T) => [secret: string, facts: Record<string, string>]): View<T> => ({
  lines(issued, { paint }) {
    const [secret, facts] = view(issued);
    return [secret, ...fieldLines(paint.dim, facts)];
  },
});

const revokedView: View<{ readonly name: string }> = {
  lines: ({ name }, { paint }) => [`${paint.good('✓')} Revoked ${name}`],
};

export const keysList: Run<typeof spec.keysList> = async ({ terminal, session, signal }, query) => {
  terminal.result(await (await session.operator()).keys(query, { signal }), keysView);
  return 0;
};

export const keysIssue: Run<typeof spec.keysIssue> = (context, { name }) =>
  change(
    context,
    `Issue an operator key named ${name}, and show it once.`,
    async () => (await context.session.operator()).issueKey(name, { signal: context.signal }),
    secretView(({ key, key_id, name }) => [key, { 'Key id': key_id, Name: name }]),
    'It will not be shown again. Use it as FARELOCK_OPERATOR_KEY.',
  );

/** Revokes a key at once; the service refuses to revoke the last one. */
export const keysRevoke: Run<typeof spec.keysRevoke> = (context, { keyId }) =>
  change(
    context,
    `Revoke the operator key ${keyId} at once.`,
    async () => (await context.session.operator()).revokeKey(keyId, { signal: context.signal }),
    revokedView,
  );

const keysView = listView('keys', {
  columns: ({ paint }) => [
    { title: 'Key', cell: (key) => key.key_id },
    { title: 'Name', cuts: true, cell: (key) => key.name },
    { title: 'Last used', cell: (key) => utcTime(key.last_used_at) },
    { title: 'State', cell: (key) => (key.revoked_at === null ? paint.good('works') : 'revoked') },
  ],
  row: (key: OperatorKey) => [key.key_id, key.name, key.last_used_at, key.revoked_at],
});

export const partnerKeysList: Run<typeof spec.keysPartnerList> = async ({ terminal, session, signal, clock }) => {
  terminal.result(await (await session.partnerDesk()).keys({ signal }), partnerKeysView(clock.now()));
  return 0;
};

export const partnerKeysIssue: Run<typeof spec.keysPartnerIssue> = (context, { partnerId, name }) =>
  change(
    context,
    `Issue a key named ${name} to ${partnerId}, and show it once.`,
    async () => (await context.session.partnerDesk()).issueKey(partnerId, name, { signal: context.signal }),
    issuedPartnerKeyView,
    'It is not shown again. The partner uses it as FARELOCK_API_KEY.',
  );

export const partnerKeysRevoke: Run<typeof spec.keysPartnerRevoke> = (context, { keyId }) =>
  change(
    context,
    `Revoke the partner key ${keyId} at once.`,
    async () => (await context.session.partnerDesk()).revokeKey(keyId, { signal: context.signal }),
    revokedView,
  );

export const partnerKeysRotate: Run<typeof spec.keysPartnerRotate> = (context, { keyId, overlap }) => {
  const hours = overlap / HOUR_MS;
  return change(
    context,
    `Issue a key to replace ${keyId}, which keeps working for ${hours} h.`,
    async () => (await context.session.partnerDesk()).rotateKey(keyId, hours, { signal: context.signal }),
    issuedPartnerKeyView,
    `It is not shown again. ${hours === 0 ? 'The old key no longer works.' : `${keyId} keeps working for ${hours} h.`}`,
  );
};

export const customerTokenIssue: Run<typeof spec.keysToken> = (context, { customerId, ttl }) => {
  const minutes = ttl === undefined ? undefined : Math.max(1, Math.round(ttl / MINUTE_MS));
  return change(
    context,
    `Issue a token for ${customerId}, and show it once.`,
    async () => (await context.session.partnerDesk()).customerToken(customerId, minutes, { signal: context.signal }),
    secretView(({ token, customer_id, expires_at }) => [
      token,
      { Customer: customer_id, 'Works until': utcTime(expires_at) },
    ]),
    'It is not shown again. Use it as FARELOCK_CUSTOMER_TOKEN.',
  );
};

const partnerKeysView = (nowMs: number) =>
  listView('keys', {
    none: 'No partner keys.',
    columns: ({ paint }) => [
      { title: 'Key', cell: (key) => key.key_id },
      { title: 'Partner', cell: (key) => key.partner_id },
      { title: 'Name', cuts: true, cell: (key) => key.name },
      { title: 'Last used', cell: ({ last_used_at: at }) => fromNow(at, nowMs) },
      { title: 'State', cell: (key) => stateText(key, nowMs, paint) },
    ],
    row: (key: PartnerKey) => [
      key.key_id,
      key.partner_id,
      key.environment,
      key.name,
      key.last_used_at,
      key.expires_at,
      key.revoked_at,
    ],
  });

function stateText(key: PartnerKey, nowMs: number, paint: Paint): string {
  if (key.revoked_at !== null) return 'revoked';
  if (key.expires_at === null) return paint.good('works');
  return Date.parse(key.expires_at) <= nowMs ? 'rotated out' : paint.warn(`works until ${utcTime(key.expires_at)}`);
}

const issuedPartnerKeyView = secretView(({ key, key_id, partner_id, environment, name }: IssuedPartnerKey) => [
  key,
  { 'Key id': key_id, Partner: partner_id, Environment: environment, Name: name },
]);
