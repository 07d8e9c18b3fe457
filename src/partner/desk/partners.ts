import { randomBytes } from 'node:crypto';
import type { Insertable, Selectable } from 'kysely';
import { HOUR_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type { PartnerRecord, PartnerRecords, PutPartner, RotatedSecret } from '../../wire/partner/desk.ts';
import type { Doing, PartnerPorts, PartnerTable } from '../base/index.ts';
import { checkPartnerUrl, sealWebhookSecret } from '../platforms/index.ts';

const shown = (row: Selectable<PartnerTable>): PartnerRecord => ({
  partner_id: row.partner_id,
  environment: row.environment,
  name: row.name,
  type: row.type,
  platform_url: row.platform_url,
  icon: row.icon,
  terms_url: row.terms_url,
  privacy_policy_url: row.privacy_policy_url,
  offering: JSON.parse(row.offering) as unknown,
  enabled: row.enabled === 1,
  created_at: instant(row.created_at_ms),
  updated_at: instant(row.updated_at_ms),
});

/** Signs what goes to a partner's platform, in the form of Standard Webhooks. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

const AUDITED = [
  'name',
  'type',
  'platform_url',
  'icon',
  'terms_url',
  'privacy_policy_url',
  'offering',
  'enabled',
] as const;

/** The fields that a change of a partner sets anew, each with what it was; of the offering the lines that came and went. */
function changesOf(before: Selectable<PartnerTable> | null, now: Insertable<PartnerTable>): object {
  const fields = AUDITED.filter((field) => before?.[field] !== now[field]);
  return Object.fromEntries(
    fields.map((field) => {
      if (field !== 'offering') return [field, { before: before?.[field] ?? null, after: now[field] }];
      const [then, given] = [linesOf(before?.offering), linesOf(now.offering)];
      const missingIn = (lines: readonly string[], others: readonly string[]) =>
        lines.filter((line) => !others.includes(line)).map((line) => JSON.parse(line) as unknown);
      return [field, { before: missingIn(then, given), after: missingIn(given, then) }];
    }),
  );
}

const linesOf = (offering = '{"rails":[]}'): string[] =>
  (JSON.parse(offering) as { rails: unknown[] }).rails.map((line) => JSON.stringify(line));

/** Partners of this environment, as an operator keeps them. All audited. */
export function createPartners(ports: PartnerPorts) {
  const { store, clock, ids, environment, desk } = ports;
  return {
    async list(): Promise<PartnerRecords> {
      const rows = await store
        .selectFrom('partners')
        .selectAll()
        .where('environment', '=', environment)
        .orderBy('partner_id')
        .execute();
      return { partners: rows.map(shown) };
    },

    /**
     * Makes a partner, or changes one. The secret that signs what goes to its platform is shown once, with the
     * partner that is new. The address of its platform is checked now as it is written, and with every call again.
     * @throws Problem `invalid_request` for an id of the other environment, `partner_url_refused`
     */
    async put(by: Doing, given: PutPartner): Promise<PartnerRecord & { webhook_secret?: string }> {
      checkPartnerUrl(given.platform_url, { environment, extraPorts: ports.options.outboundPorts });
      return store.transaction().execute(async (tx) => {
        const nowMs = clock.now();
        const partnerId = given.partner_id ?? ids.next('par');
        const before = await tx
          .selectFrom('partners')
          .selectAll()
          .where('partner_id', '=', partnerId)
          .executeTakeFirst();
        if (before && before.environment !== environment) throw taken('partner_id');
        const secret = before ? null : newWebhookSecret();
        const row: Insertable<PartnerTable> = {
          partner_id: partnerId,
          environment,
          name: given.name,
          type: given.type,
          platform_url: given.platform_url,
          icon: given.icon,
          terms_url: given.terms_url,
          privacy_policy_url: given.privacy_policy_url,
          offering: JSON.stringify(given.offering),
          webhook_secret_sealed: before?.webhook_secret_sealed ?? sealWebhookSecret(ports, partnerId, secret ?? ''),
          enabled: given.enabled ? 1 : 0,
          created_at_ms: before?.created_at_ms ?? nowMs,
          updated_at_ms: nowMs,
        };
        if (before) await tx.updateTable('partners').set(row).where('partner_id', '=', partnerId).execute();
        else await tx.insertInto('partners').values(row).execute();
        await desk.audit(tx, {
          ...by,
          action: before ? 'partner.change' : 'partner.create',
          subject: partnerId,
          detail: { changed: changesOf(before ?? null, row) },
        });
        return { ...shown(row as Selectable<PartnerTable>), ...(secret ? { webhook_secret: secret } : {}) };
      });
    },

    /**
     * A new secret signs what goes to the partner's platform, beside the one before it for `overlapHours`. It is shown
     * this once. @throws Problem `partner_not_found`
     */
    rotateSecret: (by: Doing, partnerId: string, overlapHours: number): Promise<RotatedSecret> =>
      store.transaction().execute(async (tx) => {
        const row = await tx
          .selectFrom('partners')
          .selectAll()
          .where('partner_id', '=', partnerId)
          .where('environment', '=', environment)
          .executeTakeFirst();
        if (!row) throw problem('partner_not_found');
        const secret = newWebhookSecret();
        const untilMs = clock.now() + Math.round(overlapHours * HOUR_MS);
        await tx
          .updateTable('partners')
          .set({
            webhook_secret_sealed: sealWebhookSecret(ports, partnerId, secret),
            webhook_secret_before_sealed: row.webhook_secret_sealed,
            webhook_secret_before_until_ms: untilMs,
          })
          .where('partner_id', '=', partnerId)
          .execute();
        await desk.audit(tx, {
          ...by,
          action: 'partner.rotate_secret',
          subject: partnerId,
          detail: { overlap_hours: overlapHours },
        });
        return { partner_id: partnerId, webhook_secret: secret, previous_until: instant(untilMs) };
      }),
  };
}

export const taken = (path: string) =>
  problem('invalid_request', { detail: { issues: [{ path, message: 'is taken.' }] } });
