import { HOUR_MS, MINUTE_MS } from '../../../kernel/clock.ts';
import { fieldLines } from '../../../terminal/table.ts';
import { utcTime } from '../../../terminal/times.ts';
import type { Command } from '../../spec/command.ts';
import { issuedPartnerKeyLines, partnerKeysView } from '../../view/partner/keys.ts';
import { printPlan } from '../../view/plan.ts';

interface PartnerKeyIssueOptions {
  readonly partnerId: string;
  readonly name: string;
}

interface PartnerKeyOptions {
  readonly keyId: string;
}

interface PartnerKeyRotateOptions extends PartnerKeyOptions {
  /** Milliseconds for which the old key goes on. */
  readonly overlap: number;
}

interface CustomerTokenOptions {
  readonly customerId: string;
  /** Milliseconds; the service's own when it is not given. */
  readonly ttl?: number;
}

/** The keys of partners, by name; never the keys themselves. */
export const partnerKeysList: Command<object> = async ({ terminal, session, signal, clock }) => {
  terminal.result(await (await session.partnerDesk()).keys({ signal }), partnerKeysView(clock.now()));
  return 0;
};

/** Issues a key to a partner. It is shown this once. */
export const partnerKeysIssue: Command<PartnerKeyIssueOptions> = async (context, { partnerId, name }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Issue a key named ${name} to ${partnerId}, and show it once.`]);
    return 0;
  }
  const issued = await (await session.partnerDesk()).issueKey(partnerId, name, { signal });
  terminal.result(issued, { lines: issuedPartnerKeyLines });
  terminal.aside(['', 'It is not shown again. The partner uses it as FARELOCK_API_KEY.']);
  return 0;
};

/** Makes a partner's key worthless at once. */
export const partnerKeysRevoke: Command<PartnerKeyOptions> = async (context, { keyId }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Revoke the partner key ${keyId} at once.`]);
    return 0;
  }
  const revoked = await (await session.partnerDesk()).revokeKey(keyId, { signal });
  terminal.result(revoked, { lines: ({ name }, { paint }) => [`${paint.good('✓')} Revoked ${name}`] });
  return 0;
};

/** Puts a new key in the place of one, which goes on for a while. The new one is shown this once. */
export const partnerKeysRotate: Command<PartnerKeyRotateOptions> = async (context, { keyId, overlap }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Issue a key to replace ${keyId}, which keeps working for ${overlap / HOUR_MS} h.`]);
    return 0;
  }
  const issued = await (await session.partnerDesk()).rotateKey(keyId, overlap / HOUR_MS, { signal });
  terminal.result(issued, { lines: issuedPartnerKeyLines });
  const until =
    overlap === 0 ? 'The old key no longer works.' : `${keyId} keeps working for ${overlap / HOUR_MS} h.`;
  terminal.aside(['', `It is not shown again. ${until}`]);
  return 0;
};

/** A short-lived token for one customer. It is shown this once. */
export const customerTokenIssue: Command<CustomerTokenOptions> = async (context, { customerId, ttl }) => {
  const { terminal, session, signal } = context;
  if (context.globals.dryRun) {
    printPlan(terminal, [`Issue a token for ${customerId}, and show it once.`]);
    return 0;
  }
  const minutes = ttl === undefined ? undefined : Math.max(1, Math.round(ttl / MINUTE_MS));
  const issued = await (await session.partnerDesk()).customerToken(customerId, minutes, { signal });
  terminal.result(issued, {
    lines: ({ token, customer_id, expires_at }, { paint }) => [
      token,
      ...fieldLines(
        [
          ['Customer', customer_id],
          ['Works until', utcTime(expires_at)],
        ],
        paint.dim,
      ),
    ],
  });
  terminal.aside(['', 'It is not shown again. Use it as FARELOCK_CUSTOMER_TOKEN.']);
  return 0;
};
