import type { Selectable } from 'kysely';
import { HOUR_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { IssuedPartnerKey, PartnerKey, PartnerKeys } from '../../wire/partner/desk.ts';
import {
  type Doing,
  newPartnerKey,
  type PartnerKeyTable,
  type PartnerPorts,
  partnerKeyHmac,
  type Tx,
} from '../base/index.ts';

type KeyRow = Selectable<PartnerKeyTable>;

const shown = (row: KeyRow): PartnerKey => ({
  key_id: row.key_id,
  partner_id: row.partner_id,
  environment: row.environment,
  name: row.name,
  created_at: instant(row.created_at_ms),
  last_used_at: row.last_used_at_ms === null ? null : instant(row.last_used_at_ms),
  expires_at: row.expires_at_ms === null ? null : instant(row.expires_at_ms),
  revoked_at: row.revoked_at_ms === null ? null : instant(row.revoked_at_ms),
  replaced_by: row.replaced_by,
});

/** Puts a key of a partner on record. A key that is there already, revoked ones included, stays as it is. */
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

/** API keys of partners: issued, listed, revoked, rotated with an overlap (CONTRACT, section 10). All audited. */
export function createPartnerKeys(ports: PartnerPorts) {
  const { store, clock, environment, desk } = ports;

  /** @throws Problem `partner_key_not_found` */
  async function find(tx: Tx, keyId: string): Promise<KeyRow> {
    const row = await tx
      .selectFrom('partner_keys')
      .selectAll()
      .where('key_id', '=', keyId)
      .where('environment', '=', environment)
      .executeTakeFirst();
    if (!row) throw problem('partner_key_not_found');
    return row;
  }

  return {
    /** By name, never the keys themselves. Those of this environment. */
    async list(): Promise<PartnerKeys> {
      const rows = await store
        .selectFrom('partner_keys')
        .selectAll()
        .where('environment', '=', environment)
        .orderBy('partner_id')
        .orderBy('created_at_ms')
        .orderBy('key_id')
        .execute();
      return { keys: rows.map(shown) };
    },

    /** @throws Problem `partner_not_found` */
    issue: (by: Doing, partnerId: string, name: string): Promise<IssuedPartnerKey> =>
      store.transaction().execute(async (tx) => {
        const partner = await tx
          .selectFrom('partners')
          .select('partner_id')
          .where('partner_id', '=', partnerId)
          .where('environment', '=', environment)
          .executeTakeFirst();
        if (!partner) throw problem('partner_not_found');
        const key = newPartnerKey(environment);
        const row = await insertPartnerKey(ports, tx, partnerId, name, key);
        await desk.audit(tx, {
          ...by,
          action: 'partner_key.issue',
          subject: row.key_id,
          detail: { partner_id: partnerId },
        });
        return { ...shown(row), key };
      }),

    /** Works no more from this moment on. Again is the same answer. @throws Problem `partner_key_not_found` */
    revoke: (by: Doing, keyId: string): Promise<PartnerKey> =>
      store.transaction().execute(async (tx) => {
        const row = await find(tx, keyId);
        if (row.revoked_at_ms !== null) return shown(row);
        const revoked = { revoked_at_ms: clock.now() };
        await tx.updateTable('partner_keys').set(revoked).where('key_id', '=', keyId).execute();
        await desk.audit(tx, {
          ...by,
          action: 'partner_key.revoke',
          subject: keyId,
          detail: { partner_id: row.partner_id },
        });
        return shown({ ...row, ...revoked });
      }),

    /**
     * A new key takes the place of another one, which goes on for `overlapHours`.
     * @throws Problem `partner_key_not_found`, `partner_key_revoked` (also when it expired or was rotated before)
     */
    rotate: (by: Doing, keyId: string, overlapHours: number): Promise<IssuedPartnerKey> =>
      store.transaction().execute(async (tx) => {
        const row = await find(tx, keyId);
        if (row.revoked_at_ms !== null || row.expires_at_ms !== null) throw problem('partner_key_revoked');
        const key = newPartnerKey(environment);
        const next = await insertPartnerKey(ports, tx, row.partner_id, row.name, key);
        await tx
          .updateTable('partner_keys')
          .set({ expires_at_ms: clock.now() + Math.round(overlapHours * HOUR_MS), replaced_by: next.key_id })
          .where('key_id', '=', keyId)
          .execute();
        await desk.audit(tx, {
          ...by,
          action: 'partner_key.rotate',
          subject: keyId,
          detail: { partner_id: row.partner_id, replaced_by: next.key_id, overlap_hours: overlapHours },
        });
        return { ...shown(next), key };
      }),
  };
}
