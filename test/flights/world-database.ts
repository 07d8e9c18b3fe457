import { migratedFile } from '../service/migrated.ts';

/** Where a world keeps the service's rows: a file in its home, unless a test file says otherwise before it opens one. */
export const worldDatabase = { next: migratedFile };
