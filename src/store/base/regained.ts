import { DeleteQueryNode, InsertQueryNode, type KyselyPlugin, RawNode, UpdateQueryNode } from 'kysely';

/**
 * Ends a statement of which a failure of the power may take the last ones: what it says is found out again, or costs
 * nobody anything. A kill never takes it, and it is never kept without what was written before it. With libsql nobody
 * waits for the disk on its account; who waits for a later statement waits for this one too. PostgreSQL takes no notice.
 */
export const REGAINED = '/* regained */';

/** The same database, or transaction, of which every insert, update and delete ends so. Not of raw SQL. */
export const regained = <Database extends { withPlugin(plugin: KyselyPlugin): Database }>(
  database: Database,
): Database => database.withPlugin(endsRegained);

const endsRegained: KyselyPlugin = {
  transformQuery: ({ node }) =>
    InsertQueryNode.is(node) || UpdateQueryNode.is(node) || DeleteQueryNode.is(node)
      ? { ...node, endModifiers: [...(node.endModifiers ?? []), RawNode.createWithSql(REGAINED)] }
      : node,
  transformResult: async ({ result }) => result,
};
