/** `--json [fields]`: the choice among the fields of a document. */

/** A document, or the entries of its one list, reduced to the chosen fields. */
export function selectFields(document: unknown, fields: readonly string[] | null, list?: string): unknown {
  if (fields === null) return document;
  if (list !== undefined && isRecord(document)) {
    const entries = document[list];
    return { [list]: Array.isArray(entries) ? entries.map((entry) => pick(entry, fields)) : [] };
  }
  return pick(document, fields);
}

const pick = (value: unknown, fields: readonly string[]): unknown =>
  isRecord(value)
    ? Object.fromEntries(fields.filter((field) => field in value).map((field) => [field, value[field]]))
    : value;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
