import type { Selectable } from 'kysely';
import type { PartnerPorts, PartnerTable } from '../base/index.ts';
import { createBreaker } from './breaker.ts';
import { createOutbound, type Outbound, type OutboundPartner } from './outbound.ts';
import { createOutboundAudit } from './outbound-audit.ts';

export type PartnerRow = Selectable<PartnerTable>;

/**
 * A partner as the outbound side needs it.
 * @param begunAt where an order's platform was when the order was begun; null for orders older than that record
 */
export const outboundPartner = (
  ports: Pick<PartnerPorts, 'secrets' | 'clock'>,
  row: PartnerRow,
  begunAt: string | null,
): OutboundPartner => ({
  partnerId: row.partner_id,
  platformUrl: begunAt ?? row.platform_url,
  hasMoved: begunAt !== null && begunAt !== row.platform_url,
  webhookSecrets: webhookSecretsOf(ports, row),
});

/** The outbound side of a service: the network, and in demo the sandbox platform in this process. */
export function openOutbound(ports: PartnerPorts): Outbound {
  const { store, secrets, ids, clock, environment, demo } = ports;
  const given = ports.outbound ?? {};
  return createOutbound({
    clock,
    random: given.random ?? Math.random,
    breaker: createBreaker({ store, clock }),
    audit: createOutboundAudit({ store, secrets, ids }),
    rules: { environment, extraPorts: ports.options.outboundPorts },
    embedded: demo && (given.embedded ?? ((request) => demo.answer(ports, request))),
    resolve: given.resolve,
    limits: given.limits,
    ca: given.ca,
  });
}

const secretPlace = (partnerId: string) => `partners.webhook_secret_sealed.${partnerId}`;

export const sealWebhookSecret = (
  { secrets }: Pick<PartnerPorts, 'secrets'>,
  partnerId: string,
  secret: string,
): string => secrets.encrypt(secretPlace(partnerId), secret);

/** The secrets that sign what is sent to a partner now, newest first: two while one rotates. */
export function webhookSecretsOf(
  { secrets, clock }: Pick<PartnerPorts, 'secrets' | 'clock'>,
  row: Pick<
    Selectable<PartnerTable>,
    'partner_id' | 'webhook_secret_sealed' | 'webhook_secret_before_sealed' | 'webhook_secret_before_until_ms'
  >,
): string[] {
  const before = row.webhook_secret_before_sealed;
  const lives = before !== null && clock.now() < (row.webhook_secret_before_until_ms ?? 0);
  return [row.webhook_secret_sealed, ...(lives ? [before] : [])].map((sealed) =>
    secrets.decrypt(secretPlace(row.partner_id), sealed),
  );
}
