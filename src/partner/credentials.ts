import { randomBytes } from 'node:crypto';
import { problem } from '../kernel/problems.ts';
import type { CallingPartner } from './call.ts';
import type { PartnerPorts } from './ports.ts';
import type { PartnerEnvironment } from './tables.ts';

/** A key's last use is noted to the minute: a read is not to become a write each time. */
const USE_NOTED_MS = 60_000;

/** A new key of a partner: `flk_demo_…`, `flk_live_…`. 192 random bits. */
export const newPartnerKey = (environment: PartnerEnvironment): string =>
  `flk_${environment}_${randomBytes(24).toString('base64url')}`;

/** What is kept of a key. The environment is in the key's prefix, and so in the hash. */
export const partnerKeyHmac = ({ secrets }: Pick<PartnerPorts, 'secrets'>, key: string): string =>
  secrets.hmac('partner key', key);

/**
 * Whose key this is (spec/partner-service.md, Authentication). It is looked up by its keyed hash, so that nothing is
 * compared in clear; a key of the other environment, a revoked and an expired one are no keys.
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
    .select([
      'partner_keys.key_id',
      'partner_keys.last_used_at_ms',
      'partner_keys.expires_at_ms',
      'partners.partner_id',
      'partners.name',
      'partners.type',
    ])
    .where('partner_keys.key_hmac', '=', partnerKeyHmac(ports, key))
    .where('partner_keys.environment', '=', environment)
    .where('partners.environment', '=', environment)
    .where('partner_keys.revoked_at_ms', 'is', null)
    .executeTakeFirst();
  if (!row || (row.expires_at_ms !== null && row.expires_at_ms <= nowMs))
    throw problem('partner_key_invalid');
  if ((row.last_used_at_ms ?? 0) <= nowMs - USE_NOTED_MS) {
    await store
      .updateTable('partner_keys')
      .set({ last_used_at_ms: nowMs })
      .where('key_id', '=', row.key_id)
      .execute();
  }
  return { partnerId: row.partner_id, name: row.name, type: row.type, keyId: row.key_id };
}
