import type { Transaction } from 'kysely';
import type { FlightsPorts } from './ports.ts';
import type { DeskTables } from './tables.ts';

/** Who acts: an operator by the key that was sent. */
export interface Operator {
  readonly keyId: string;
  readonly name: string;
}

export type AuditTables = Pick<DeskTables, 'operator_audit'>;

interface Act {
  readonly operator: Operator;
  /** `refund.approve`, `switch.booking`, `key.revoke`, … */
  readonly action: string;
  readonly subject: string;
  /** X-Request-Id of the call. */
  readonly requestId: string;
  /** Ids and amounts; nothing personal, no words of anybody's. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Adds a row to the audit trail, in the transaction of the act itself. There is nothing that changes one. */
export async function writeAudit(
  tx: Transaction<AuditTables>,
  { clock, ids }: Pick<FlightsPorts, 'clock' | 'ids'>,
  act: Act,
): Promise<void> {
  await tx
    .insertInto('operator_audit')
    .values({
      audit_id: ids.next('aud'),
      at_ms: clock.now(),
      key_id: act.operator.keyId,
      operator_name: act.operator.name,
      action: act.action,
      subject: act.subject,
      request_id: act.requestId,
      detail: JSON.stringify(act.detail ?? {}),
    })
    .execute();
}
