import * as z from 'zod';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { Doing, PartnerPorts } from '../base/index.ts';
import { createOutboundAudit } from './outbound-audit.ts';

/** A try at a partner's platform, as an operator reads it. */
export const outboundTry = z.strictObject({
  partner_id: z.string(),
  order_id: z.string(),
  operation: z.enum(['create-order', 'redirect-order']),
  attempt: z.int(),
  at: z.iso.datetime(),
  duration_ms: z.int(),
  /** `answer`, `lost`, `unsent`, `oversized`, `refused`, `breaker_open` */
  outcome: z.string(),
  status: z.int().nullable(),
  reason: z.string().nullable(),
  request: z.string(),
  answer: z.string().nullable(),
});

export const outboundTries = z.strictObject({ tries: z.array(outboundTry) });

export type OutboundTries = z.output<typeof outboundTries>;

/**
 * The log of outbound requests at the operator's desk, one order at a time, opened. The look is in the audit trail.
 * @throws Problem `order_not_found`, also for an order of the other environment
 */
export function createOutboundDesk(ports: PartnerPorts) {
  const { store, desk, environment } = ports;
  return {
    async look(by: Doing, orderId: string): Promise<OutboundTries> {
      const row = await store
        .selectFrom('partner_orders')
        .select('order_id')
        .where('order_id', '=', orderId)
        .where('environment', '=', environment)
        .executeTakeFirst();
      if (!row) throw problem('order_not_found');
      const tries = await createOutboundAudit(ports).read(orderId);
      await store.transaction().execute((tx) => desk.audit(tx, { ...by, action: 'outbound.look', subject: orderId }));
      return {
        tries: tries.map((one) => ({
          partner_id: one.partnerId,
          order_id: one.subject,
          operation: one.operation,
          attempt: one.attempt,
          at: instant(one.atMs),
          duration_ms: one.durationMs,
          outcome: one.outcome,
          status: one.status,
          reason: one.reason,
          request: one.request,
          answer: one.answer,
        })),
      };
    },
  };
}
