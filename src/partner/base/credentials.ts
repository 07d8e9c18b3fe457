import { randomBytes } from 'node:crypto';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { removeOld } from '../../store/index.ts';
import type { CustomerToken } from '../../wire/partner/desk.ts';
import type { CallingPartner } from './call.ts';
import type { PartnerPorts } from './ports.ts';
import { requireCustomer } from './rows.ts';
import type { PartnerEnvironment, Tx } from './tables.ts';

/** A key's last use is saved once a minute at most, so that few reads become writes. */
const USE_NOTED_MS = 60_000;

/** Makes a partner's key of 192 random bits: `flk_demo_…` or `flk_live_…`. */
export const newPartnerKey = (environment: PartnerEnvironment): string =>
  `flk_${environment}_${randomBytes(24).toString('base64url')}`;

/** The stored hash of a key. The environment is in the key's prefix, and so in the hash. */
export const partnerKeyHmac = ({ secrets }: Pick<PartnerPorts, 'secrets'>, key: string): string =>
  secrets.hmac('partner key', key);

/**
 * Finds a key's partner by the key's keyed hash (spec/partner-service.md, Authentication), so that no key is compared
 * in clear. Revoked and expired keys, and those of the other environment, are invalid.
 * @throws Problem `partner_key_required`, `partner_key_invalid`
 */
export async function authenticatePartner(
  ports: Pick<PartnerPorts, 'store' | 'secrets' | 'clock' | 'environment'>,
  header: string | null,
): Promise<CallingPartner> {
  const { store, clock, environment } = ports;
  const key = header?.trim() ?? '';
  if (key === '') throw problem('partner_key_required');
  if (!key.startsWith(`flk_${environment}_`) || key.length > 200) throw problem('partner_key_invalid');
  const nowMs = clock.now();
  const row = await store
    .selectFrom('partner_keys')
    .innerJoin('partners', 'partners.partner_id', 'partner_keys.partner_id')
    .select(['key_id', 'last_used_at_ms', 'expires_at_ms', 'partners.partner_id', 'partners.name', 'type'])
    .where('partner_keys.key_hmac', '=', partnerKeyHmac(ports, key))
    .where('partner_keys.environment', '=', environment)
    .where('partners.environment', '=', environment)
    .where('partner_keys.revoked_at_ms', 'is', null)
    .executeTakeFirst();
  if (!row || (row.expires_at_ms !== null && row.expires_at_ms <= nowMs)) throw problem('partner_key_invalid');
  if ((row.last_used_at_ms ?? 0) <= nowMs - USE_NOTED_MS) {
    await store.updateTable('partner_keys').set({ last_used_at_ms: nowMs }).where('key_id', '=', row.key_id).execute();
  }
  return { partnerId: row.partner_id, name: row.name, type: row.type, keyId: row.key_id };
}

type TokenPorts = Pick<PartnerPorts, 'store' | 'secrets' | 'clock' | 'environment' | 'options'>;

const tokenHmac = ({ secrets }: Pick<TokenPorts, 'secrets'>, token: string): string =>
  secrets.hmac('customer token', token);

/** Mints a short-lived token for a customer; stores only its keyed hash. @throws Problem `customer_not_found` */
export async function mintToken(
  ports: TokenPorts,
  tx: Tx,
  customerId: string,
  ttlMs: number = ports.options.tokenLifeMs,
): Promise<CustomerToken> {
  const nowMs = ports.clock.now();
  await requireCustomer(ports, tx, customerId);
  const token = `flk_cus_${ports.environment}_${randomBytes(24).toString('base64url')}`;
  const expiresAtMs = nowMs + Math.min(ttlMs, ports.options.longestTokenLifeMs);
  await removeOld(tx, { table: 'customer_tokens', key: 'token_hmac', at: 'expires_at_ms' }, nowMs);
  await tx
    .insertInto('customer_tokens')
    .values({
      token_hmac: tokenHmac(ports, token),
      customer_id: customerId,
      environment: ports.environment,
      expires_at_ms: expiresAtMs,
      created_at_ms: nowMs,
    })
    .execute();
  return { customer_id: customerId, environment: ports.environment, token, expires_at: instant(expiresAtMs) };
}

/**
 * Finds the customer of an Authorization header. A token is invalid for a partner that the customer is not linked to.
 * @throws Problem `customer_token_required`, `customer_token_invalid`, `customer_blocked`
 */
export async function authenticateCustomer(
  ports: TokenPorts,
  header: string | null,
  partnerId: string,
): Promise<string> {
  const match = /^Bearer +(\S{1,200})$/i.exec(header?.trim() ?? '');
  if (!match) throw problem(header ? 'customer_token_invalid' : 'customer_token_required');
  const row = await ports.store
    .selectFrom('customer_tokens')
    .innerJoin('customer_partners', 'customer_partners.customer_id', 'customer_tokens.customer_id')
    .innerJoin('customers', 'customers.customer_id', 'customer_tokens.customer_id')
    .select(['customer_tokens.customer_id', 'expires_at_ms', 'blocked_at_ms'])
    .where('token_hmac', '=', tokenHmac(ports, match[1] ?? ''))
    .where('customer_tokens.environment', '=', ports.environment)
    .where('customer_partners.partner_id', '=', partnerId)
    .executeTakeFirst();
  if (!row || row.expires_at_ms <= ports.clock.now()) throw problem('customer_token_invalid');
  if (row.blocked_at_ms !== null) throw problem('customer_blocked');
  return row.customer_id;
}
