import { type Selectable, type SqlBool, sql } from 'kysely';
import { NEVER_MS, type OpenQueue, openQueue } from '../../store/index.ts';
import {
  type Attest,
  type AttestationRunTable,
  highestRank,
  type PartnerDatabase,
  type PartnerPorts,
  pageOperator,
  type RunType,
  type Store,
  type Tx,
} from '../base/index.ts';
import { type Facts, inputKey, type Judged } from './compliance.ts';
import { ATTESTATIONS, FARTHEST_MS, ofCustomersIn } from './compliance-due.ts';
import { openData } from './submissions.ts';

type SealPorts = Pick<PartnerPorts, 'secrets'>;

const MOST_RUNS = 50;

type RunRow = Selectable<AttestationRunTable>;

/** Begins attestations as rows, and finishes the due ones. @param attest null if an operator decides every run */
export function createAttestations(ports: PartnerPorts, attest: Attest | null) {
  const queue = openQueue(ports, ATTESTATIONS);
  return {
    /** Begins every attestation judged `due`. Idempotent. @returns how many were due */
    begin: (tx: Tx, customerId: string, judged: readonly Judged[]): Promise<number> =>
      beginDue(tx, ports, customerId, judged, attest === null),

    /** Finishes every due run of one customer or of all. Several processes may run it at once. */
    async runDue(customerId: string | null = null): Promise<number> {
      if (attest === null) return 0;
      const here = ofCustomersIn(ports.environment);
      const which = customerId === null ? here : sql<SqlBool>`customer_id = ${customerId} and ${here}`;
      const work = {
        perform: (run: RunRow) => perform(ports, queue, run, attest),
        failed: (run: RunRow, error: unknown) =>
          queue.postpone(run, error, () => ({
            log: () =>
              ports.log('warn', 'attestation_postponed', {
                attestation_id: run.attestation_id,
                type: run.type,
                error_name: error instanceof Error ? error.name : typeof error,
              }),
          })),
      };
      return (await queue.runDue(work, MOST_RUNS, [which])).worked;
    },
  };
}

async function perform(
  ports: PartnerPorts,
  queue: OpenQueue<PartnerDatabase, 'attestation_runs'>,
  run: RunRow,
  attest: Attest,
): Promise<void> {
  const { store, clock, log } = ports;
  const dataIds = run.input_key.split('+');
  const data = await openData(ports, store, run.customer_id, dataIds, { files: true });
  // The data was purged in the meantime; the customer is asked for it again.
  if (data.size < dataIds.length) return drop(store, run);
  const verdict = await attest(run.type as RunType, [...data.values()]);
  await queue.finish(run, { state: verdict, live_key: null, finished_at_ms: clock.now(), decided_by: 'sandbox' });
  log('info', 'attestation_finished', { attestation_id: run.attestation_id, type: run.type, verdict });
}

async function drop(store: Store, run: RunRow): Promise<void> {
  await store
    .deleteFrom('attestation_runs')
    .where('attestation_id', '=', run.attestation_id)
    .where('fence', '=', run.fence)
    .where('state', '=', 'running')
    .execute();
}

/** @param byPerson an operator decides the runs, and is paged */
async function beginDue(
  tx: Tx,
  ports: PartnerPorts,
  customerId: string,
  judged: readonly Judged[],
  byPerson: boolean,
): Promise<number> {
  const due = judged.filter(({ standing }) => standing.state === 'due');
  if (due.length === 0) return 0;
  const nowMs = ports.clock.now();
  let rank = await highestRank(tx, 'attestation_runs', customerId);
  for (const { requirement, dataIds } of due) {
    const key = inputKey(dataIds);
    const attestationId = ports.ids.next('att');
    const begun = await tx
      .insertInto('attestation_runs')
      .values({
        attestation_id: attestationId,
        customer_id: customerId,
        type: requirement.type,
        input_key: key,
        rank: ++rank,
        state: 'running',
        live_key: `${customerId} ${requirement.type} ${key}`,
        due_at_ms: byPerson ? NEVER_MS : nowMs + Math.min(FARTHEST_MS, ports.options.attestationMs),
        lease_until_ms: 0,
        attempts: 0,
        started_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.column('live_key').doNothing())
      .executeTakeFirst();
    if (byPerson && (begun.numInsertedOrUpdatedRows ?? 0n) > 0n)
      await pageOperator(ports, tx, {
        event: 'attestation_waiting',
        subject: attestationId,
        text: `Attestation ${attestationId} (${requirement.type}) is waiting for a decision.`,
        fields: { attestation_id: attestationId, customer_id: customerId, type: requirement.type },
      });
  }
  return due.length;
}

export async function runsOf(at: Store | Tx, customerId: string): Promise<Facts['runs']> {
  const rows = await at.selectFrom('attestation_runs').selectAll().where('customer_id', '=', customerId).execute();
  return rows.map((row) => ({
    attestationId: row.attestation_id,
    type: row.type as RunType,
    inputKey: row.input_key,
    rank: row.rank,
    state: row.state,
    finishedAtMs: row.finished_at_ms,
  }));
}

const reasonPlace = (attestationId: string): string => `attestation_runs.reason_sealed.${attestationId}`;

export const sealReason = ({ secrets }: SealPorts, attestationId: string, reason: string | undefined): string | null =>
  reason === undefined ? null : secrets.encrypt(reasonPlace(attestationId), reason);

export const openReason = (
  { secrets }: SealPorts,
  { attestation_id, reason_sealed }: Pick<RunRow, 'attestation_id' | 'reason_sealed'>,
): string | null => reason_sealed && secrets.decrypt(reasonPlace(attestation_id), reason_sealed);

/** Removes the reasons of attestations about data that was removed. */
export async function removeReasons(
  tx: Tx,
  gone: readonly { readonly data_id: string; readonly customer_id: string }[],
) {
  const ids = new Set(gone.map(({ data_id }) => data_id));
  const customers = [...new Set(gone.map(({ customer_id }) => customer_id))];
  if (customers.length === 0) return;
  const runs = await tx
    .selectFrom('attestation_runs')
    .select(['attestation_id', 'input_key'])
    .where('customer_id', 'in', customers)
    .where('reason_sealed', 'is not', null)
    .execute();
  const about = runs.filter(({ input_key }) => input_key.split('+').some((id) => ids.has(id)));
  if (about.length === 0) return;
  const runIds = about.map(({ attestation_id }) => attestation_id);
  await tx.updateTable('attestation_runs').set({ reason_sealed: null }).where('attestation_id', 'in', runIds).execute();
}
