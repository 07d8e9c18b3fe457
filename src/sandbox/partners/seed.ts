import { join } from 'node:path';
import { FUNDED } from '../../kernel/domain/order-moves.ts';
import { ensureLine } from '../../kernel/secrets.ts';
import { linkCustomer, newPartnerKey, type PartnerPorts, type Tx } from '../../partner/base/index.ts';
import { insertPartnerKey, newWebhookSecret } from '../../partner/desk/index.ts';
import { recordChange, sealColumn } from '../../partner/orders/index.ts';
import { sealWebhookSecret } from '../../partner/platforms/index.ts';
import { readMark } from '../../store/index.ts';
import { SANDBOX_ORIGIN, SEEDED_CUSTOMERS, SEEDED_ORDERS, SEEDED_PARTNERS, type SeededOrder } from './seed-table.ts';

const MARK = 'partner_seed';

/** The private file with a demo partner's key. */
export const partnerKeyFile = (home: string, partnerId: string): string =>
  join(home, 'keys', `partner-${partnerId}.key`);

/** The private file with the secret that signs what is sent to a demo partner's platform. */
export const webhookSecretFile = (home: string, partnerId: string): string =>
  join(home, 'keys', `partner-${partnerId}.webhook`);

/**
 * A demo has partners, customers, keys and orders from the start. The key files come first and are never written
 * over, then everything else in one transaction with its mark: of two processes that start at once, the second finds
 * the work done, and a crash in between repeats it. A key file of this home is put on record in whatever database is
 * used; a key that was revoked stays revoked.
 */
export async function ensureSeed(ports: PartnerPorts): Promise<void> {
  if (ports.environment !== 'demo') return;
  const keys = SEEDED_PARTNERS.map(({ partnerId }) => ({ partnerId, key: ensureKey(ports, partnerId) }));
  const wanted = keys.map(({ key }) => ports.secrets.hmac('partner seed', key)).join(' ');
  if ((await readMark(ports.store, MARK)) === wanted) return;
  await ports.store.transaction().execute(async (tx) => {
    // Asked again where the writer's turn is ours: another process may have done it meanwhile.
    const mark = await readMark(tx, MARK);
    if (mark === wanted) return;
    await seedPartners(ports, tx);
    for (const { partnerId, key } of keys) await insertPartnerKey(ports, tx, partnerId, 'sandbox', key);
    if (mark === null) {
      for (const order of SEEDED_ORDERS) await seedOrder(ports, tx, order);
      await (await import('./seed-customers.ts')).seedCustomers(ports, tx);
    }
    await tx
      .insertInto('meta')
      .values({ key: MARK, value: wanted })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: wanted }))
      .execute();
  });
}

const ensureKey = ({ home }: PartnerPorts, partnerId: string): string =>
  ensureLine(partnerKeyFile(home, partnerId), 'flk_demo_', () => newPartnerKey('demo'));

/** Leaves existing partners alone: an operator may have changed them. */
async function seedPartners(ports: PartnerPorts, tx: Tx): Promise<void> {
  const nowMs = ports.clock.now();
  for (const partner of SEEDED_PARTNERS) {
    const site = `https://${partner.partnerId.replaceAll('_', '-')}.example`;
    await tx
      .insertInto('partners')
      .values({
        partner_id: partner.partnerId,
        environment: ports.environment,
        name: partner.name,
        type: partner.type,
        platform_url: `${SANDBOX_ORIGIN}${partner.path}`,
        icon: `${site}/icon.svg`,
        terms_url: `${site}/terms`,
        privacy_policy_url: `${site}/privacy`,
        offering: JSON.stringify(partner.offering),
        webhook_secret_sealed: sealWebhookSecret(
          ports,
          partner.partnerId,
          ensureLine(webhookSecretFile(ports.home, partner.partnerId), 'whsec_', newWebhookSecret),
        ),
        enabled: 1,
        created_at_ms: nowMs,
        updated_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.column('partner_id').doNothing())
      .execute();
  }
  for (const { customerId, country } of SEEDED_CUSTOMERS) {
    await tx
      .insertInto('customers')
      .values({ customer_id: customerId, environment: ports.environment, country, created_at_ms: nowMs })
      .onConflict((conflict) => conflict.column('customer_id').doNothing())
      .execute();
    for (const { partnerId } of SEEDED_PARTNERS) await linkCustomer(tx, customerId, partnerId, nowMs);
  }
}

async function seedOrder(ports: PartnerPorts, tx: Tx, order: SeededOrder): Promise<void> {
  const createdAtMs = ports.clock.now() - order.minutesAgo * 60_000;
  const stepMs = (order.minutesAgo * 60_000) / order.way.length;
  const atMs = (step: number) => Math.round(createdAtMs + step * stepMs);
  const last = order.way.length - 1;
  await tx
    .insertInto('partner_orders')
    .values({
      order_id: order.orderId,
      environment: ports.environment,
      partner_id: order.partnerId,
      customer_id: order.customerId,
      external_id: order.externalId,
      begun_as: 'INTEGRATION',
      creation: 'created',
      status: order.way[last] ?? 'AWAITING_FUNDS',
      transaction_type: order.transactionType,
      country_code: order.countryCode,
      source_currency: order.source[0],
      source_amount: order.source[1],
      destination_currency: order.destination[0],
      destination_amount: order.destination[1],
      network: order.network,
      payment_method: order.paymentMethod,
      deposit_instructions_sealed: sealColumn(
        ports.secrets,
        'deposit_instructions_sealed',
        order.orderId,
        order.deposit,
      ),
      customer_payment_details_data_id: null,
      customer_wallet_data_id: null,
      source_transaction_id: order.sourceTransactionId ?? null,
      destination_transaction_id: order.destinationTransactionId ?? null,
      reason_sealed: null,
      customer_facing_reason_sealed: null,
      return_details_sealed: null,
      redirect_url_sealed: null,
      funds_seen: order.way.some((status) => FUNDED.has(status)) ? 1 : 0,
      payment_processed: order.way.includes('PAYMENT_PROCESSED') ? 1 : 0,
      version: order.way.length,
      creation_key: null,
      request_digest: null,
      creation_sealed: null,
      due_at_ms: null,
      last_error: null,
      created_at_ms: createdAtMs,
      updated_at_ms: atMs(last),
    })
    .execute();
  for (const [step, status] of order.way.entries()) {
    await recordChange(ports, tx, {
      partnerId: order.partnerId,
      environment: ports.environment,
      orderId: order.orderId,
      version: step + 1,
      from: order.way[step - 1] ?? null,
      to: status,
      fields: ['status'],
      actor: 'seed',
      requestId: '',
      atMs: atMs(step),
    });
  }
}
