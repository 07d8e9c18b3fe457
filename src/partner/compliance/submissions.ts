import { DAY_MS } from '../../kernel/clock.ts';
import type { WalletType } from '../../kernel/domain/exchange-codes.ts';
import { canonicalJson } from '../../kernel/json.ts';
import type { DataType } from '../../wire/partner/kinds.ts';
import { highestRank, type PartnerPorts, type Store, type Tx } from '../base/index.ts';
import type { CustomerData } from '../customer-data/index.ts';
import type { Submission } from './compliance.ts';

/** One valid piece of CustomerData, in its normal form. */
export interface GivenData {
  /** Set for data that a demo starts with. */
  readonly dataId?: string;
  readonly type: DataType;
  readonly value: CustomerData;
}

type SealPorts = Pick<PartnerPorts, 'secrets'>;

/**
 * Saves data that a customer gave. Each field, files included, is sealed for its customer, row and name. A value given
 * again keeps its row and gets a new date. @returns the ids, in the order given
 */
export async function saveData(
  ports: Pick<PartnerPorts, 'secrets' | 'ids'>,
  tx: Tx,
  customerId: string,
  given: readonly GivenData[],
  nowMs: number,
) {
  let rank = await highestRank(tx, 'customer_data', customerId);
  const saved: { dataId: string; type: DataType }[] = [];
  for (const piece of given)
    saved.push({ dataId: await savePiece(ports, tx, customerId, piece, ++rank, nowMs), type: piece.type });
  return saved;
}

/** Lists a customer's pieces of data, with what a compliance status depends on. */
export async function submissionsOf(ports: SealPorts, at: Store | Tx, customerId: string): Promise<Submission[]> {
  const rows = await at.selectFrom('customer_data').selectAll().where('customer_id', '=', customerId).execute();
  const documents = rows.filter(({ type }) => type === 'ID_DOCUMENT').map(({ data_id }) => data_id);
  const expiries = await fields(ports, at, customerId, documents, { files: false, only: 'idDocument.expiryDate' });
  return rows.map((row) => ({
    dataId: row.data_id,
    type: row.type as DataType,
    network: row.network as WalletType | null,
    rank: row.rank,
    submittedAtMs: row.submitted_at_ms,
    expiresAtMs: endOf(expiries.get(row.data_id)?.[0]),
  }));
}

/** Opens pieces of a customer's data, by id in the requested order. Skips pieces that were removed. */
export async function openData(
  ports: SealPorts,
  at: Store | Tx,
  customerId: string,
  dataIds: readonly string[],
  { files }: { readonly files: boolean },
): Promise<ReadonlyMap<string, CustomerData>> {
  const found = await fields(ports, at, customerId, dataIds, { files });
  return new Map(
    dataIds.flatMap((dataId) => {
      const parts = found.get(dataId);
      return parts ? [[dataId, dataOf(parts)] as const] : [];
    }),
  );
}

/** @returns the row's id, which is the existing one if the value was given before */
async function savePiece(
  { secrets, ids }: Pick<PartnerPorts, 'secrets' | 'ids'>,
  tx: Tx,
  customerId: string,
  { type, value, dataId: own }: GivenData,
  rank: number,
  nowMs: number,
): Promise<string> {
  const hmac = secrets.hmac(`customer_data.${customerId}.${type}`, canonicalJson(value));
  const again = await tx
    .updateTable('customer_data')
    .set({ rank, submitted_at_ms: nowMs, last_used_at_ms: nowMs })
    .where('customer_id', '=', customerId)
    .where('type', '=', type)
    .where('value_hmac', '=', hmac)
    .returning('data_id')
    .executeTakeFirst();
  if (again) return again.data_id;
  const dataId = own ?? ids.next('dat');
  await tx
    .insertInto('customer_data')
    .values({
      data_id: dataId,
      customer_id: customerId,
      type,
      network: value.cryptoWallet?.type ?? null,
      value_hmac: hmac,
      rank,
      submitted_at_ms: nowMs,
      last_used_at_ms: nowMs,
    })
    .execute();
  const sealed = fieldsOf(value).map(({ field, text }) => ({
    data_id: dataId,
    field,
    value_sealed: secrets.encrypt(place(customerId, dataId, field), text),
  }));
  await tx.insertInto('customer_data_fields').values(sealed).execute();
  return dataId;
}

async function fields(
  { secrets }: SealPorts,
  at: Store | Tx,
  customerId: string,
  dataIds: readonly string[],
  { files, only }: { readonly files: boolean; readonly only?: string },
): Promise<ReadonlyMap<string, readonly Field[]>> {
  if (dataIds.length === 0) return new Map();
  const rows = await at
    .selectFrom('customer_data_fields')
    .innerJoin('customer_data', 'customer_data.data_id', 'customer_data_fields.data_id')
    .selectAll('customer_data_fields')
    .where('customer_data.customer_id', '=', customerId)
    .where('customer_data.data_id', 'in', [...dataIds])
    .$if(!files, (query) => query.where('customer_data_fields.field', 'not in', FILE_FIELDS))
    .$if(only !== undefined, (query) => query.where('customer_data_fields.field', '=', only ?? ''))
    .execute();
  const found = new Map<string, Field[]>();
  for (const { data_id: dataId, field, value_sealed: sealed } of rows) {
    const text = secrets.decrypt(place(customerId, dataId, field), sealed);
    found.set(dataId, [...(found.get(dataId) ?? []), { field, text }]);
  }
  return found;
}

const place = (customerId: string, dataId: string, field: string): string =>
  `customer_data_fields.value_sealed.${customerId}.${dataId}.${field}`;

/** A document is valid through its last day, by UTC. */
const endOf = (expiry: Field | undefined): number | null =>
  expiry ? Date.parse(String(JSON.parse(expiry.text))) + DAY_MS : null;

/** One field of a piece of CustomerData: its dotted name (`bankAccount.iban.bic`), and its value as JSON. */
export interface Field {
  readonly field: string;
  readonly text: string;
}

const FILE_FIELDS: readonly string[] = [
  'idDocument.frontSideImage',
  'idDocument.backSideImage',
  'proofOfAddress.file',
  'selfie.image',
];

/** True for a field that holds a file's bytes, or their hash. */
export const isOfFile = (field: string): boolean => FILE_FIELDS.includes(field.replace(/Hash$/, ''));

/** Splits a piece of data into its fields. An empty object counts as one field itself. */
export function fieldsOf(value: CustomerData): Field[] {
  const fields: Field[] = [];
  const walk = (inner: unknown, path: readonly string[]): void => {
    const entries =
      typeof inner === 'object' && inner !== null ? Object.entries(inner).filter(([, part]) => part !== undefined) : [];
    if (entries.length === 0) fields.push({ field: path.join('.'), text: JSON.stringify(inner) });
    for (const [name, part] of entries) walk(part, [...path, name]);
  };
  walk(value, []);
  return fields;
}

/** Puts a piece of data together from all fields, or from those that may be shown. */
export function dataOf(fields: readonly Field[]): CustomerData {
  const whole: Record<string, unknown> = {};
  for (const { field, text } of fields) {
    const path = field.split('.');
    const last = path.pop() ?? '';
    let at = whole;
    for (const name of path) {
      const inner = (at[name] ?? {}) as Record<string, unknown>;
      at[name] = inner;
      at = inner;
    }
    at[last] = JSON.parse(text);
  }
  return whole as CustomerData;
}
