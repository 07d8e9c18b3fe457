import { type Selectable, type SqlBool, sql } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import type {
  AttestationRecord,
  AttestationRecords,
  DecideAttestation,
  OpenedAttestation,
} from '../../wire/partner/desk.ts';
import type { AttestationRunTable, Doing, PartnerPorts, Store, Tx } from '../base/index.ts';
import { createSubmissions, ofCustomersIn, reasonPlace } from '../compliance/index.ts';

type RunRow = Selectable<AttestationRunTable>;

const MOST_LISTED = 200;

/**
 * Attestations at the operator's desk: in production a person attests, and everywhere a person may overrule. Whoever
 * looks at a customer's data leaves a line in the audit trail.
 */
export function createAttestationDesk(ports: PartnerPorts) {
  const { store, secrets, clock, desk, environment } = ports;
  const submissions = createSubmissions(ports);

  const ofHere = (at: Store | Tx) => at.selectFrom('attestation_runs').selectAll().where(ofCustomersIn(environment));

  /** @throws Problem `attestation_not_found` */
  async function find(tx: Tx, attestationId: string): Promise<RunRow> {
    const row = await ofHere(tx).where('attestation_id', '=', attestationId).executeTakeFirst();
    if (!row) throw problem('attestation_not_found');
    return row;
  }

  return {
    /** What runs, and what was rejected, oldest first: all that somebody may want to decide. */
    async list(): Promise<AttestationRecords> {
      const rows = await ofHere(store)
        // In the words of the index over them.
        .where(sql<SqlBool>`state in ('running', 'rejected')`)
        .where('started_at_ms', '>', 0)
        .orderBy('started_at_ms')
        .orderBy('attestation_id')
        .limit(MOST_LISTED)
        .execute();
      return { attestations: rows.map(shown) };
    },

    /** One, with the data that it is about, files included. @throws Problem `attestation_not_found` */
    look: (by: Doing, attestationId: string): Promise<OpenedAttestation> =>
      store.transaction().execute(async (tx) => {
        const row = await find(tx, attestationId);
        const data: Record<string, unknown>[] = [];
        for (const dataId of row.input_key.split('+')) {
          const value = await submissions.open(tx, row.customer_id, dataId, { files: true });
          if (value) data.push(value);
        }
        await desk.audit(tx, { ...by, action: 'attestation.look', subject: attestationId });
        const sealed = row.reason_sealed;
        const reason = sealed === null ? null : secrets.decrypt(reasonPlace(attestationId), sealed);
        return { ...shown(row), reason, data };
      }),

    /**
     * Decides one, whether it runs or has ended: what a person says counts from now on, also against the sandbox. The
     * reason may speak of the customer: it is sealed, and the audit trail says only whether there is one.
     * @throws Problem `attestation_not_found`
     */
    decide: (by: Doing, attestationId: string, { verdict, reason }: DecideAttestation): Promise<AttestationRecord> =>
      store.transaction().execute(async (tx) => {
        const row = await find(tx, attestationId);
        const decided = {
          state: verdict,
          live_key: null,
          finished_at_ms: clock.now(),
          decided_by: by.operator.keyId,
          reason_sealed: reason === undefined ? null : secrets.encrypt(reasonPlace(attestationId), reason),
        };
        await tx
          .updateTable('attestation_runs')
          .set((column) => ({ ...decided, fence: column('fence', '+', 1) }))
          .where('attestation_id', '=', attestationId)
          .execute();
        await desk.audit(tx, {
          ...by,
          action: 'attestation.decide',
          subject: attestationId,
          detail: { type: row.type, from: row.state, to: verdict, has_reason: reason !== undefined },
        });
        return shown({ ...row, ...decided });
      }),
  };
}

const shown = (row: RunRow): AttestationRecord => ({
  attestation_id: row.attestation_id,
  customer_id: row.customer_id,
  type: row.type as AttestationRecord['type'],
  state: row.state,
  started_at: instant(row.started_at_ms),
  finished_at: row.finished_at_ms === null ? null : instant(row.finished_at_ms),
  decided_by: row.decided_by,
});
