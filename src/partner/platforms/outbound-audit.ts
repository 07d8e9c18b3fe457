import type { PartnerPorts } from '../base/index.ts';
import type { OutboundOperation } from './messages.ts';

/** How much of a request or an answer is kept. */
export const MOST_AUDIT_BYTES = 256 * 1024;

interface OutboundEntry {
  readonly partnerId: string;
  /** The order, or the redirection, that the try was for. */
  readonly subject: string;
  readonly operation: OutboundOperation;
  /** 1, 2 or 3; 0 for a try that the guard or the breaker stopped. */
  readonly attempt: number;
  readonly atMs: number;
  readonly durationMs: number;
  /** `answer`, `lost`, `unsent`, `oversized`, `refused` (by the guard), `breaker_open` */
  readonly outcome: string;
  readonly status: number | null;
  /** A short reason such as ECONNREFUSED; nothing personal. */
  readonly reason: string | null;
  readonly request: string;
  readonly answer: Uint8Array | null;
}

export type OutboundAudit = ReturnType<typeof createOutboundAudit>;

/**
 * The append-only log of requests to partners and their answers, `rawResponse` included (CONTRACT, section 13). Both
 * speak of customers, wallets and bank accounts, so they are sealed; the rest of a row is ids, numbers and words of
 * ours. Retention and the erasure of a customer empty the sealed columns; the row stays.
 */
export function createOutboundAudit({ store, secrets, ids }: Pick<PartnerPorts, 'store' | 'secrets' | 'ids'>) {
  const place = (column: string, id: string) => `partner_outbound.${column}.${id}`;
  const opened = (id: string, column: string, sealed: string | null) =>
    sealed === null ? null : secrets.decrypt(place(column, id), sealed);
  return {
    async write(entry: OutboundEntry): Promise<void> {
      const id = ids.next('out');
      const answer = entry.answer === null ? null : cappedText(entry.answer);
      await store
        .insertInto('partner_outbound')
        .values({
          outbound_id: id,
          partner_id: entry.partnerId,
          order_id: entry.subject,
          kind: entry.operation,
          attempt: entry.attempt,
          at_ms: entry.atMs,
          duration_ms: Math.max(0, Math.round(entry.durationMs)),
          outcome: entry.outcome,
          status: entry.status,
          reason: entry.reason,
          request_sealed: secrets.encrypt(place('request_sealed', id), cappedText(Buffer.from(entry.request))),
          raw_response_sealed: answer === null ? null : secrets.encrypt(place('raw_response_sealed', id), answer),
        })
        .execute();
    },
    /** Opens the tries for one order or redirection, oldest first. */
    async read(subject: string) {
      const rows = await store
        .selectFrom('partner_outbound')
        .selectAll()
        .where('order_id', '=', subject)
        .orderBy('at_ms')
        .orderBy('outbound_id')
        .execute();
      return rows.map((row) => ({
        partnerId: row.partner_id,
        subject: row.order_id,
        operation: row.kind,
        attempt: row.attempt,
        atMs: row.at_ms,
        durationMs: row.duration_ms,
        outcome: row.outcome,
        status: row.status,
        reason: row.reason,
        request: opened(row.outbound_id, 'request_sealed', row.request_sealed) ?? '',
        answer: opened(row.outbound_id, 'raw_response_sealed', row.raw_response_sealed),
      }));
    },
  };
}

/** Cuts bytes at the limit, and returns them as text, or in base64 if they are not UTF-8. */
function cappedText(bytes: Uint8Array): string {
  const kept = Buffer.from(bytes.subarray(0, MOST_AUDIT_BYTES));
  const text = kept.toString('utf8');
  return Buffer.from(text, 'utf8').equals(kept) ? text : `base64:${kept.toString('base64')}`;
}
