import type { Selectable } from 'kysely';
import { HOUR_MS, instant, instantOrNull } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type { IssuedPartnerKey, PartnerKey, PartnerKeys } from '../../wire/partner/desk.ts';
import {
  type DeskCall,
  findRow,
  newPartnerKey,
  type PartnerKeyTable,
  type PartnerPorts,
  partnerKeyHmac,
  requirePartner,
  type Tx,
} from '../base/index.ts';

type KeyRow = Selectable<PartnerKeyTable>;

const shown = (row: KeyRow): PartnerKey => ({
  key_id: row.key_id,
  partner_id: row.partner_id,
  environment: row.environment,
  name: row.name,
  created_at: instant(row.created_at_ms),
  last_used_at: instantOrNull(row.last_used_at_ms),
  expires_at: instantOrNull(row.expires_at_ms),
  revoked_at: instantOrNull(row.revoked_at_ms),
  replaced_by: row.replaced_by,
});

/** Saves a partner's key. An existing key, even a revoked one, stays as it is. */
export async function insertPartnerKey(
  ports: PartnerPorts,
  tx: Tx,
  partnerId: string,
  name: string,
  key: string,
): Promise<KeyRow> {
  const row: KeyRow = {
    key_id: ports.ids.next('key'),
    partner_id: partnerId,
    environment: ports.environment,
    name,
    key_hmac: partnerKeyHmac(ports, key),
    created_at_ms: ports.clock.now(),
    last_used_at_ms: null,
    expires_at_ms: null,
    revoked_at_ms: null,
    replaced_by: null,
  };
  await tx
    .insertInto('partner_keys')
    .values(row)
    .onConflict((conflict) => conflict.column('key_hmac').doNothing())
    .execute();
  return row;
}

/** @throws Problem `partner_key_not_found` */
async function requireKey({ environment }: PartnerPorts, tx: Tx, key_id: string): Promise<KeyRow> {
  const row = await findRow(tx, 'partner_keys', { key_id, environment });
  if (!row) throw problem('partner_key_not_found');
  return row;
}

/** Lists the names and dates of this environment's keys, never the keys themselves. */
export async function listKeys({ ports: { store, environment } }: DeskCall): Promise<PartnerKeys> {
  const rows = await store
    .selectFrom('partner_keys')
    .selectAll()
    .where('environment', '=', environment)
    .orderBy('partner_id')
    .orderBy('created_at_ms')
    .orderBy('key_id')
    .execute();
  return { keys: rows.map(shown) };
}

/** @throws Problem `partner_not_found` */
export const issueKey = ({ ports, note }: DeskCall, partnerId: string, name: string): Promise<IssuedPartnerKey> =>
  inTurn(ports.store, [`partners:${partnerId}`], async (tx) => {
    await requirePartner(ports, tx, partnerId);
    const key = newPartnerKey(ports.environment);
    const row = await insertPartnerKey(ports, tx, partnerId, name, key);
    await note(tx, 'partner_key.issue', row.key_id, { partner_id: partnerId });
    return { ...shown(row), key };
  });

/** Revokes a key at once. Idempotent. @throws Problem `partner_key_not_found` */
export const revokeKey = ({ ports, note }: DeskCall, keyId: string): Promise<PartnerKey> =>
  inTurn(ports.store, [`partner_keys:${keyId}`], async (tx) => {
    const row = await requireKey(ports, tx, keyId);
    if (row.revoked_at_ms !== null) return shown(row);
    const revoked = { revoked_at_ms: ports.clock.now() };
    await tx.updateTable('partner_keys').set(revoked).where('key_id', '=', keyId).execute();
    await note(tx, 'partner_key.revoke', keyId, { partner_id: row.partner_id });
    return shown({ ...row, ...revoked });
  });

/**
 * Replaces a key. The old key works for another `overlapHours`.
 * @throws Problem `partner_key_not_found`, `partner_key_revoked` (also if it has expired or was rotated before)
 */
export const rotateKey = ({ ports, note }: DeskCall, keyId: string, overlapHours: number): Promise<IssuedPartnerKey> =>
  inTurn(ports.store, [`partner_keys:${keyId}`], async (tx) => {
    const row = await requireKey(ports, tx, keyId);
    if (row.revoked_at_ms !== null || row.expires_at_ms !== null) throw problem('partner_key_revoked');
    const key = newPartnerKey(ports.environment);
    const next = await insertPartnerKey(ports, tx, row.partner_id, row.name, key);
    await tx
      .updateTable('partner_keys')
      .set({ expires_at_ms: ports.clock.now() + Math.round(overlapHours * HOUR_MS), replaced_by: next.key_id })
      .where('key_id', '=', keyId)
      .execute();
    const detail = { partner_id: row.partner_id, replaced_by: next.key_id, overlap_hours: overlapHours };
    await note(tx, 'partner_key.rotate', keyId, detail);
    return { ...shown(next), key };
  });
