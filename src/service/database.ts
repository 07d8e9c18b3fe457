import type { Kysely } from 'kysely';
import type { FlightsDatabase } from '../flights/tables.ts';
import type { PartnerDatabase } from '../partner/tables.ts';
import type { OnTrouble } from '../store/libsql/file.ts';
import { openFileOrServer } from '../store/open.ts';
import { serviceMigrations } from './migrations.ts';

/**
 * Every table of the services' database; each room knows those that its own `tables.ts` names. Portable between SQLite
 * and PostgreSQL: integers (atomic USDC, milliseconds where a number is compared, 0/1 for flags), UTC text for instants
 * on the wire, JSON as text, bytes for what is large. Columns that end in `_sealed` hold what was encrypted by `kernel/secrets.ts`; `_hmac` holds a
 * keyed hash.
 */
export interface ServiceTables extends FlightsDatabase, PartnerDatabase {}

export type Store = Kysely<ServiceTables>;

/**
 * Opens the services' own database: a file under FARELOCK_HOME, or a `postgres://` URL.
 * @throws Problem `database_unavailable`: PostgreSQL did not let us in; of storage; `database_newer`
 */
export const openStore = (where: string, onTrouble?: OnTrouble): Promise<Store> =>
  openFileOrServer<ServiceTables>(where, serviceMigrations, onTrouble);
