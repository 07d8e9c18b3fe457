import { type Problem, problem } from '../kernel/problems.ts';
import { publicTrouble, STORAGE_RETRY_S } from '../kernel/storage.ts';
import { isDatabaseAway } from './postgres/index.ts';

/**
 * The problem behind an error that has to do with where things are kept, in words for anybody, or null: storage that
 * fails, or a database that is away. It says nothing of what was asked, which may be asked again.
 */
export const storeTrouble = (error: unknown): Problem | null =>
  publicTrouble(error) ??
  (isDatabaseAway(error) ? problem('not_ready', { retryAfter: STORAGE_RETRY_S, cause: error }) : null);
