import type { Tx } from '../tables.ts';

/** Where the words of an operator who decided an attestation are sealed. */
export const reasonPlace = (attestationId: string): string =>
  `attestation_runs.reason_sealed.${attestationId}`;

/** The words go with the data that they are about. */
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
  await tx
    .updateTable('attestation_runs')
    .set({ reason_sealed: null })
    .where(
      'attestation_id',
      'in',
      about.map(({ attestation_id }) => attestation_id),
    )
    .execute();
}
