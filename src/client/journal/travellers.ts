import type { Kysely, Selectable } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { BASE_FIELDS, DOCUMENT_FIELDS, foldName, type PassengerField } from '../../kernel/domain/passengers.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { erasing } from '../../store/index.ts';
import type { ClientTables, SavedTravellerTable, SealedField, SealedFields, StorePorts } from './store-schema.ts';

/** A saved traveller's fields, checked as passengers. */
export type TravellerFields = Readonly<Partial<Record<PassengerField, string>>>;

export interface SavedTraveller {
  /** The person's own name for them. */
  readonly name: string;
  readonly fields: TravellerFields;
  readonly savedAt: string;
}

const FIELDS: readonly PassengerField[] = [...BASE_FIELDS, ...DOCUMENT_FIELDS];

/** Saved travellers, each field sealed and bound to its row and column. */
export function createTravellers(ports: StorePorts) {
  const { db, secrets } = ports;
  return {
    /** Sorted by name. @throws Problem `traveller_unreadable` */
    async all(): Promise<SavedTraveller[]> {
      const rows = await db.selectFrom('travellers').selectAll().execute();
      return rows.map((row) => opened(secrets, row)).sort((a, b) => (foldName(a.name) < foldName(b.name) ? -1 : 1));
    },
    /** Ignores case and accents. @throws Problem `traveller_unreadable` */
    async find(name: string): Promise<SavedTraveller | undefined> {
      const key = keyOf(secrets, name);
      const row = await db.selectFrom('travellers').selectAll().where('name_key', '=', key).executeTakeFirst();
      return row && opened(secrets, row);
    },
    /**
     * Keeps a traveller; `replaces` overwrites one of that name and erases it from the file.
     * @throws Problem `traveller_exists`
     */
    keep: (name: string, fields: TravellerFields, { replaces }: { readonly replaces: boolean }): Promise<void> =>
      erasing(db, () => write(ports, name, fields, replaces)),
    /** Erases a traveller from the file; false when there was none. */
    async remove(name: string): Promise<boolean> {
      let isRemoved = false;
      await erasing(db, async () => {
        isRemoved = await deleted(db, keyOf(secrets, name));
      });
      return isRemoved;
    },
  };
}

async function deleted(db: Kysely<ClientTables>, key: string): Promise<boolean> {
  const gone = await db.deleteFrom('travellers').where('name_key', '=', key).returning('traveller_id').execute();
  return gone.length > 0;
}

const write = ({ db, secrets, clock, ids }: StorePorts, name: string, fields: TravellerFields, replaces: boolean) =>
  db.transaction().execute(async (tx) => {
    const id = ids.next('trv');
    // Thrown inside the transaction, to undo the deletion.
    if ((await deleted(tx, keyOf(secrets, name))) && !replaces) {
      throw problem('traveller_exists', { message: `There is already a traveller ${name}.`, detail: { name } });
    }
    await tx
      .insertInto('travellers')
      .values({
        traveller_id: id,
        name_key: keyOf(secrets, name),
        name_sealed: secrets.encrypt(place('name_sealed', id), name),
        ...sealedFields(secrets, id, fields),
        updated_at_ms: clock.now(),
      })
      .execute();
  });

/** Makes the hash that names are looked up by, as they are often a person's. */
const keyOf = (secrets: Secrets, name: string) => secrets.hmac('traveller name', foldName(name));
const place = (column: string, id: string) => `travellers.${column}.${id}`;
const columnOf = (field: PassengerField): SealedField => `${field}_sealed`;

function sealedFields(secrets: Secrets, id: string, fields: TravellerFields): SealedFields {
  const sealed = FIELDS.map((field): [SealedField, string | null] => {
    const [column, clear] = [columnOf(field), fields[field]];
    return [column, clear === undefined ? null : secrets.encrypt(place(column, id), clear)];
  });
  return Object.fromEntries(sealed) as SealedFields;
}

function opened(secrets: Secrets, row: Selectable<SavedTravellerTable>): SavedTraveller {
  const { traveller_id: id } = row;
  try {
    const fields: Partial<Record<PassengerField, string>> = {};
    for (const field of FIELDS) {
      const sealed = row[columnOf(field)];
      if (sealed !== null) fields[field] = secrets.decrypt(place(columnOf(field), id), sealed);
    }
    return {
      name: secrets.decrypt(place('name_sealed', id), row.name_sealed),
      fields,
      savedAt: instant(row.updated_at_ms),
    };
  } catch (error) {
    throw problem('traveller_unreadable', { cause: error });
  }
}
