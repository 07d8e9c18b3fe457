import { type Selectable, type SqlBool, sql } from 'kysely';
import { instant, instantOrNull } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { inTurn } from '../../store/base/index.ts';
import type {
  AttestationRecord,
  AttestationRecords,
  DecideAttestation,
  OpenedAttestation,
} from '../../wire/partner/desk.ts';
import type { AttestationRunTable, DeskCall, PartnerPorts, Store, Tx } from '../base/index.ts';
import { ofCustomersIn, openData, openReason, sealReason } from '../compliance/index.ts';

/** Attestations at the operator's desk: in production an operator decides them; in a demo an operator may overrule. */

type RunRow = Selectable<AttestationRunTable>;

const MOST_LISTED = 200;

const ofHere = ({ environment }: PartnerPorts, at: Store | Tx) =>
  at.selectFrom('attestation_runs').selectAll().where(ofCustomersIn(environment));

/** @throws Problem `attestation_not_found` */
async function requireRun(ports: PartnerPorts, tx: Tx, attestationId: string): Promise<RunRow> {
  const row = await ofHere(ports, tx).where('attestation_id', '=', attestationId).executeTakeFirst();
  if (!row) throw problem('attestation_not_found');
  return row;
}

/** Lists running and rejected attestations, oldest first, for an operator to decide. */
export async function listAttestations({ ports }: DeskCall): Promise<AttestationRecords> {
  const rows = await ofHere(ports, ports.store)
    // As in the index, so that it is used.
    .where(sql<SqlBool>`state in ('running', 'rejected')`)
    .where('started_at_ms', '>', 0)
    .orderBy('started_at_ms')
    .orderBy('attestation_id')
    .limit(MOST_LISTED)
    .execute();
  return { attestations: rows.map(shown) };
}

/** Opens an attestation with its data, files included. @throws Problem `attestation_not_found` */
export const lookAtAttestation = ({ ports, note }: DeskCall, attestationId: string): Promise<OpenedAttestation> =>
  inTurn(ports.store, [], async (tx) => {
    const row = await requireRun(ports, tx, attestationId);
    const data = await openData(ports, tx, row.customer_id, row.input_key.split('+'), { files: true });
    await note(tx, 'attestation.look', attestationId);
    return { ...shown(row), reason: openReason(ports, row), data: [...data.values()] };
  });

/**
 * Decides a running or finished attestation. The operator's verdict replaces any earlier one. The reason may speak of
 * the customer, so it is sealed; the audit trail only says whether there is one.
 * @throws Problem `attestation_not_found`
 */
export const decideAttestation = (
  { ports, operator, note }: DeskCall,
  attestationId: string,
  { verdict, reason }: DecideAttestation,
): Promise<AttestationRecord> =>
  inTurn(ports.store, [`attestation_runs:${attestationId}`], async (tx) => {
    const row = await requireRun(ports, tx, attestationId);
    const decided = {
      state: verdict,
      live_key: null,
      finished_at_ms: ports.clock.now(),
      decided_by: operator.keyId,
      reason_sealed: sealReason(ports, attestationId, reason),
    };
    await tx
      .updateTable('attestation_runs')
      .set((column) => ({ ...decided, fence: column('fence', '+', 1) }))
      .where('attestation_id', '=', attestationId)
      .execute();
    const detail = { type: row.type, from: row.state, to: verdict, has_reason: reason !== undefined };
    await note(tx, 'attestation.decide', attestationId, detail);
    return shown({ ...row, ...decided });
  });

const shown = (row: RunRow): AttestationRecord => ({
  attestation_id: row.attestation_id,
  customer_id: row.customer_id,
  type: row.type as AttestationRecord['type'],
  state: row.state,
  started_at: instant(row.started_at_ms),
  finished_at: instantOrNull(row.finished_at_ms),
  decided_by: row.decided_by,
});
