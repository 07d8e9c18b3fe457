import { everyNth } from '../rounds.ts';
import { migratedFile } from '../service/migrated.ts';

export const worldDatabase = {
  /** Where a world keeps the service's rows: a file in its home, unless a test file says otherwise before it opens one. */
  next: migratedFile,
  /** So many calls after its last death a worker dies again, where it dies at any call: 1 is at every call. */
  stride: everyNth(4),
};
