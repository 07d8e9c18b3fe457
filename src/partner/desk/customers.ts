import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { CustomerRecord } from '../../wire/partner/desk.ts';
import { type Doing, linkCustomer, type PartnerPorts } from '../base/index.ts';
import { taken } from './partners.ts';

/** Customers of this environment, as an operator keeps them. All audited. */
export function createCustomers(ports: PartnerPorts) {
  const { store, clock, ids, environment, desk } = ports;
  return {
    /** @throws Problem `partner_not_found`, `invalid_request` for an id that is taken */
    create: (
      by: Doing,
      given: { customer_id?: string | undefined; country: string; partner_ids: readonly string[] },
    ): Promise<CustomerRecord> =>
      store.transaction().execute(async (tx) => {
        const nowMs = clock.now();
        const customerId = given.customer_id ?? ids.next('cus');
        const before = await tx
          .selectFrom('customers')
          .select('customer_id')
          .where('customer_id', '=', customerId)
          .executeTakeFirst();
        if (before) throw taken('customer_id');
        await tx
          .insertInto('customers')
          .values({ customer_id: customerId, environment, country: given.country, created_at_ms: nowMs })
          .execute();
        for (const partnerId of new Set(given.partner_ids)) {
          const partner = await tx
            .selectFrom('partners')
            .select('partner_id')
            .where('partner_id', '=', partnerId)
            .where('environment', '=', environment)
            .executeTakeFirst();
          if (!partner) throw problem('partner_not_found');
          await linkCustomer(tx, customerId, partnerId, nowMs);
        }
        await desk.audit(tx, {
          ...by,
          action: 'customer.create',
          subject: customerId,
          detail: { country: given.country, partner_ids: [...new Set(given.partner_ids)] },
        });
        return {
          customer_id: customerId,
          environment,
          country: given.country,
          partner_ids: [...new Set(given.partner_ids)],
          blocked_at: null,
          created_at: instant(nowMs),
        };
      }),
  };
}
