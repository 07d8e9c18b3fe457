import type { CustomerData } from '../customer-data/schema.ts';

/** One field of a piece of CustomerData: its dotted name (`bankAccount.iban.bic`), and its value as JSON. */
export interface Field {
  readonly field: string;
  readonly text: string;
}

/** The fields that hold a file's bytes. */
export const FILE_FIELDS: readonly string[] = [
  'idDocument.frontSideImage',
  'idDocument.backSideImage',
  'proofOfAddress.file',
  'selfie.image',
];

/** True for a field that holds a file's bytes, or their hash. */
export const isOfFile = (field: string): boolean => FILE_FIELDS.includes(field.replace(/Hash$/, ''));

/** Takes a piece of data apart. A piece without any field (nothing said about intermediaries) is one field itself. */
export function fieldsOf(value: CustomerData): Field[] {
  const fields: Field[] = [];
  const walk = (inner: unknown, path: readonly string[]): void => {
    const entries =
      typeof inner === 'object' && inner !== null
        ? Object.entries(inner).filter(([, part]) => part !== undefined)
        : [];
    if (entries.length === 0) fields.push({ field: path.join('.'), text: JSON.stringify(inner) });
    for (const [name, part] of entries) walk(part, [...path, name]);
  };
  walk(value, []);
  return fields;
}

/** Puts fields together again, whether all of them or those that somebody may see. */
export function dataOf(fields: readonly Field[]): CustomerData {
  const whole: Record<string, unknown> = {};
  for (const { field, text } of fields) {
    const path = field.split('.');
    const last = path.pop() ?? '';
    let at = whole;
    for (const name of path) {
      const inner = (at[name] ?? {}) as Record<string, unknown>;
      at[name] = inner;
      at = inner;
    }
    at[last] = JSON.parse(text);
  }
  return whole as CustomerData;
}
