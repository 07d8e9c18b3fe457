import type { Kysely, Selectable } from 'kysely';
import { type Clock, instant } from '../../kernel/clock.ts';
import { BASE_FIELDS, DOCUMENT_FIELDS, foldName, type PassengerField } from '../../kernel/domain/passengers.ts';
import type { Ids } from '../../kernel/ids.ts';
import { problem } from '../../kernel/problems.ts';
import type { Secrets } from '../../kernel/secrets.ts';
import { erasing } from '../../store/index.ts';
import type { ClientTables, SavedTravellerTable, SealedField, SealedFields } from './store-schema.ts';

/** A traveller as saved: the fields of a passenger, checked by the rules of passengers before they are kept. */
export type TravellerFields = Readonly<Partial<Record<PassengerField, string>>>;

export interface SavedTraveller {
  /** The person's own name for them: `ana`. */
  readonly name: string;
  readonly fields: TravellerFields;
  /** RFC 3339, UTC. */
  readonly savedAt: string;
}

/** Travellers in the client's own database: the name and each field sealed on its own, bound to its row and column. */
export interface TravellersStore {
  /** By name. @throws Problem `traveller_unreadable` */
  all(): Promise<SavedTraveller[]>;
  /** Case and accents of a name count for nothing. @throws Problem `traveller_unreadable` */
  find(name: string): Promise<SavedTraveller | undefined>;
  /**
   * Keeps a traveller; `replaces` says whether one of that name may be written over.
   * @throws Problem `traveller_exists`
   */
  keep(name: string, fields: TravellerFields, options: { readonly replaces: boolean }): Promise<void>;
  /** Removes a traveller so that nothing of them is left in the file; false when there was none. */
  remove(name: string): Promise<boolean>;
}

const FIELDS: readonly PassengerField[] = [...BASE_FIELDS, ...DOCUMENT_FIELDS];

interface Ports {
  readonly db: Kysely<ClientTables>;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly ids: Ids;
}

export function createTravellers(ports: Ports): TravellersStore {
  const { db, secrets } = ports;
  return {
    async all() {
      const rows = await db.selectFrom('travellers').selectAll().execute();
      return rows.map((row) => opened(secrets, row)).sort((a, b) => (foldName(a.name) < foldName(b.name) ? -1 : 1));
    },
    async find(name) {
      const row = await db
        .selectFrom('travellers')
        .selectAll()
        .where('name_key', '=', keyOf(secrets, name))
        .executeTakeFirst();
      return row && opened(secrets, row);
    },
    // The traveller's earlier fields are gone from the file too.
    keep: (name, fields, { replaces }) => erasing(db, () => write(ports, name, fields, replaces)),
    async remove(name) {
      let removed = 0;
      await erasing(db, async () => {
        const gone = await db
          .deleteFrom('travellers')
          .where('name_key', '=', keyOf(secrets, name))
          .returning('traveller_id')
          .execute();
        removed = gone.length;
      });
      return removed > 0;
    },
  };
}

const write = ({ db, secrets, clock, ids }: Ports, name: string, fields: TravellerFields, replaces: boolean) =>
  db.transaction().execute(async (tx) => {
    const id = ids.next('trv');
    const before = await tx
      .deleteFrom('travellers')
      .where('name_key', '=', keyOf(secrets, name))
      .returning('traveller_id')
      .execute();
    // Thrown inside the transaction: what was deleted is there again.
    if (before.length > 0 && !replaces) {
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

/** A name is often a person's: the disk has only what recognises it. */
const keyOf = (secrets: Secrets, name: string) => secrets.hmac('traveller name', foldName(name));
const place = (column: string, id: string) => `travellers.${column}.${id}`;
const columnOf = (field: PassengerField): SealedField => `${field}_sealed`;

function sealedFields(secrets: Secrets, id: string, fields: TravellerFields): SealedFields {
  const sealed = (field: PassengerField): string | null => {
    const clear = fields[field];
    return clear === undefined ? null : secrets.encrypt(place(columnOf(field), id), clear);
  };
  return {
    given_name_sealed: sealed('given_name'),
    family_name_sealed: sealed('family_name'),
    born_on_sealed: sealed('born_on'),
    title_sealed: sealed('title'),
    gender_sealed: sealed('gender'),
    email_sealed: sealed('email'),
    phone_number_sealed: sealed('phone_number'),
    nationality_sealed: sealed('nationality'),
    passport_number_sealed: sealed('passport_number'),
    passport_expiry_sealed: sealed('passport_expiry'),
  };
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
