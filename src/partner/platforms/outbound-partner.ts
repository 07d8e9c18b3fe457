import type { Selectable } from 'kysely';
import type { PartnerPorts } from '../base/ports.ts';
import type { PartnerTable } from '../base/tables.ts';
import { webhookSecretsOf } from '../desk/partners.ts';
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
