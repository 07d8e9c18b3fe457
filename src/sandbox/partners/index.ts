import { join } from 'node:path';
import type { z } from 'zod';
import { FUNDED } from '../../kernel/domain/order-moves.ts';
import { ensureLine } from '../../kernel/secrets.ts';
import { linkCustomer, newPartnerKey, type PartnerPorts, type Tx } from '../../partner/base/index.ts';
import { insertPartnerKey } from '../../partner/desk/index.ts';
import { recordChange, sealColumn } from '../../partner/orders/index.ts';
import { newWebhookSecret, sealWebhookSecret } from '../../partner/platforms/index.ts';
import { readMark } from '../../store/index.ts';
import type { offeringSchema } from '../../wire/partner/offers.ts';
import type { OrderStatus } from '../../wire/partner/schema.ts';
import SEED from './seed.json' with { type: 'json' };

const SANDBOX_ORIGIN = 'https://platform.sandbox.farelock.invalid';

type SeededPartner = Omit<(typeof SEED.partners)[number], 'type' | 'offering'> & {
  readonly type: 'INTEGRATION' | 'REDIRECT';
  readonly offering: z.input<typeof offeringSchema>;
};

/** Two integration partners and a redirect partner, all with all seeded customers. `path`: at the sandbox platform. */
export const SEEDED_PARTNERS = SEED.partners as readonly SeededPartner[];

interface SeededOrder {
  /** Statuses from AWAITING_FUNDS to the current one. */
  readonly way: readonly OrderStatus[];
  /** Age of the order when the demo begins. */
  readonly minutesAgo: number;
  readonly deposit: object;
  readonly columns: Omit<(typeof SEED.orders)[number]['columns'], 'transaction_type'> & {
    readonly transaction_type: 'ONRAMP' | 'OFFRAMP';
  };
}

const MARK = 'partner_seed';

export const partnerKeyFile = (home: string, partnerId: string): string =>
  join(home, 'keys', `partner-${partnerId}.key`);

/** The secret that signs requests to a demo platform. */
export const webhookSecretFile = (home: string, partnerId: string): string =>
  join(home, 'keys', `partner-${partnerId}.webhook`);

/**
 * Seeds partners, customers, keys and orders. Key files come first and are never overwritten; the rest is one
 * transaction with its mark, so a crash or a second start can repeat it safely. Each database gets the keys of this
 * home's files; revoked keys stay revoked.
 */
export async function ensureSeed(ports: PartnerPorts): Promise<void> {
  if (ports.environment !== 'demo') return;
  const keys = SEEDED_PARTNERS.map(({ partnerId }) => ({ partnerId, key: ensureKey(ports, partnerId) }));
  const wanted = keys.map(({ key }) => ports.secrets.hmac('partner seed', key)).join(' ');
  if ((await readMark(ports.store, MARK)) === wanted) return;
  await ports.store.transaction().execute(async (tx) => {
    // Checked again under the write lock: another process may have seeded.
    const mark = await readMark(tx, MARK);
    if (mark === wanted) return;
    await seedPartners(ports, tx);
    for (const { partnerId, key } of keys) await insertPartnerKey(ports, tx, partnerId, 'sandbox', key);
    if (mark === null) {
      for (const order of SEED.orders as readonly SeededOrder[]) await seedOrder(ports, tx, order);
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

/** Keeps existing partners, which an operator may have changed. */
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
  for (const { customerId, country } of SEED.customers) {
    await tx
      .insertInto('customers')
      .values({ customer_id: customerId, environment: ports.environment, country, created_at_ms: nowMs })
      .onConflict((conflict) => conflict.column('customer_id').doNothing())
      .execute();
    for (const { partnerId } of SEEDED_PARTNERS) await linkCustomer(tx, customerId, partnerId, nowMs);
  }
}

async function seedOrder(ports: PartnerPorts, tx: Tx, order: SeededOrder): Promise<void> {
  const { way, deposit, columns } = order;
  const { order_id: orderId, partner_id: partnerId } = columns;
  const { environment, secrets } = ports;
  const spentMs = order.minutesAgo * 60_000;
  const createdAtMs = ports.clock.now() - spentMs;
  const atMs = (step: number) => Math.round(createdAtMs + (step * spentMs) / way.length);
  const last = way.length - 1;
  await tx
    .insertInto('partner_orders')
    .values({
      ...columns,
      environment,
      begun_as: 'INTEGRATION',
      creation: 'created',
      status: way[last] ?? 'AWAITING_FUNDS',
      deposit_instructions_sealed: sealColumn(secrets, 'deposit_instructions_sealed', orderId, deposit),
      funds_seen: way.some((status) => FUNDED.has(status)) ? 1 : 0,
      payment_processed: way.includes('PAYMENT_PROCESSED') ? 1 : 0,
      version: way.length,
      created_at_ms: atMs(0),
      updated_at_ms: atMs(last),
    })
    .execute();
  for (const [step, status] of way.entries()) {
    await recordChange(ports, tx, {
      order: { order_id: orderId, partner_id: partnerId, environment },
      version: step + 1,
      from: way[step - 1] ?? null,
      to: status,
      fields: ['status'],
      actor: 'seed',
      requestId: '',
      atMs: atMs(step),
    });
  }
}
