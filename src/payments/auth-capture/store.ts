/** Rows by key, which survive the process: what was sent, and what became of it. */
export interface Store {
  /**
   * Passes the row of a key to `change` and writes the `row` that it returns (null removes it), as one atomic step. The
   * write has reached the disk when the promise resolves.
   */
  update<T>(key: string, change: (row: unknown) => { readonly row: unknown; readonly result: T }): Promise<T>;
  keys(prefix: string): Promise<string[]>;
}

/** Keeps rows in memory only: for tests, and for servers that settle within the request. */
export function memoryStore(): Store {
  const rows = new Map<string, string>();
  return {
    async update(key, change) {
      const { row, result } = change(JSON.parse(rows.get(key) ?? 'null'));
      if (row === null) rows.delete(key);
      else rows.set(key, JSON.stringify(row));
      return result;
    },
    keys: async (prefix) => [...rows.keys()].filter((key) => key.startsWith(prefix)),
  };
}
