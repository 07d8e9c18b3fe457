import type { Insertable, Selectable } from 'kysely';
import { refuse } from '../../http/index.ts';
import { HOUR_MS, instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type {
  OutboundTries,
  PartnerRecord,
  PartnerRecords,
  PutPartner,
  RotatedSecret,
} from '../../wire/partner/desk.ts';
import { type DeskCall, findRow, type PartnerTable, requirePartner } from '../base/index.ts';
import { checkPartnerUrl, createOutboundAudit, newWebhookSecret, sealWebhookSecret } from '../platforms/index.ts';

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

const NOTED = ['name', 'type', 'platform_url', 'icon', 'terms_url', 'privacy_policy_url', 'offering'] as const;

/** Lists a partner's changed fields, before and after; for the offering only the removed and the added lines. */
function changesOf(before: Selectable<PartnerTable> | null, now: Insertable<PartnerTable>): object {
  const fields = ([...NOTED, 'enabled'] as const).filter((field) => before?.[field] !== now[field]);
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

export async function listPartners({ ports: { store, environment } }: DeskCall): Promise<PartnerRecords> {
  const rows = await store
    .selectFrom('partners')
    .selectAll()
    .where('environment', '=', environment)
    .orderBy('partner_id')
    .execute();
  return { partners: rows.map(shown) };
}

/**
 * Creates or changes a partner. For a new partner, the secret that signs requests to its platform is shown once. The
 * platform's address is checked as written now, and again with every call.
 * @throws Problem `invalid_request` for an id of the other environment, `partner_url_refused`
 */
export async function putPartner(
  { ports, note }: DeskCall,
  given: PutPartner,
): Promise<PartnerRecord & { webhook_secret?: string }> {
  const { environment } = ports;
  checkPartnerUrl(given.platform_url, { environment, extraPorts: ports.options.outboundPorts });
  const { partner_id: partnerId = ports.ids.next('par'), ...fields } = given;
  return inTurn(ports.store, [`partners:${partnerId}`], async (tx) => {
    const nowMs = ports.clock.now();
    const before = await findRow(tx, 'partners', { partner_id: partnerId });
    if (before && before.environment !== environment) refuse([{ path: 'partner_id', message: 'is taken.' }]);
    const secret = before ? null : newWebhookSecret();
    const row: Insertable<PartnerTable> = {
      ...fields,
      partner_id: partnerId,
      environment,
      offering: JSON.stringify(given.offering),
      webhook_secret_sealed: before?.webhook_secret_sealed ?? sealWebhookSecret(ports, partnerId, secret ?? ''),
      enabled: given.enabled ? 1 : 0,
      created_at_ms: before?.created_at_ms ?? nowMs,
      updated_at_ms: nowMs,
    };
    if (before) await tx.updateTable('partners').set(row).where('partner_id', '=', partnerId).execute();
    else await tx.insertInto('partners').values(row).execute();
    const changed = changesOf(before ?? null, row);
    await note(tx, before ? 'partner.change' : 'partner.create', partnerId, { changed });
    return { ...shown(row as Selectable<PartnerTable>), ...(secret ? { webhook_secret: secret } : {}) };
  });
}

/** Replaces the signing secret; the old one also signs for `overlapHours`. @throws Problem `partner_not_found` */
export const rotateSecret = ({ ports, note }: DeskCall, partnerId: string, overlapHours: number) =>
  inTurn(ports.store, [`partners:${partnerId}`], async (tx): Promise<RotatedSecret> => {
    const row = await requirePartner(ports, tx, partnerId);
    const secret = newWebhookSecret();
    const untilMs = ports.clock.now() + Math.round(overlapHours * HOUR_MS);
    await tx
      .updateTable('partners')
      .set({
        webhook_secret_sealed: sealWebhookSecret(ports, partnerId, secret),
        webhook_secret_before_sealed: row.webhook_secret_sealed,
        webhook_secret_before_until_ms: untilMs,
      })
      .where('partner_id', '=', partnerId)
      .execute();
    await note(tx, 'partner.rotate_secret', partnerId, { overlap_hours: overlapHours });
    return { partner_id: partnerId, webhook_secret: secret, previous_until: instant(untilMs) };
  });

/** Opens the log of an order's outbound requests, and notes it in the audit trail. @throws Problem `order_not_found` */
export async function lookAtTries({ ports, note }: DeskCall, orderId: string): Promise<OutboundTries> {
  const { store, environment } = ports;
  if (!(await findRow(store, 'partner_orders', { order_id: orderId, environment }))) throw problem('order_not_found');
  const tries = await createOutboundAudit(ports).read(orderId);
  await inTurn(store, [], (tx) => note(tx, 'outbound.look', orderId));
  return {
    tries: tries.map(({ partnerId, subject, atMs, durationMs, ...one }) => ({
      ...one,
      partner_id: partnerId,
      order_id: subject,
      at: instant(atMs),
      duration_ms: durationMs,
    })),
  };
}
