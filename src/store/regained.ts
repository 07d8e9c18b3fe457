/**
 * Ends a statement of which a failure of the power may take the last ones: what it says is found out again, or costs
 * nobody anything. A kill never takes it, and it is never kept without what was written before it. With libsql nobody
 * waits for the disk on its account; who waits for a later statement waits for this one too. PostgreSQL takes no notice.
 */
export const REGAINED = '/* regained */';
