import { BASE_FIELDS, DOCUMENT_FIELDS } from '../../../kernel/domain/passengers.ts';
import { isRecord } from '../../../terminal/index.ts';
import { type CommandDescription, readSchema } from '../../spec/index.ts';

/** Answers of tools: their length, their lists in parts, and their form as a schema. */

export type Document = Readonly<Record<string, unknown>>;

/** The part of each list that a call asks for. */
export interface Page {
  readonly offset: number;
  readonly limit: number;
  /** True if the call named the limit: then the answer may be long. */
  readonly isChosen: boolean;
  /** The way to get the rest: by a cursor of the service, or by an offset. */
  readonly paging: 'cursor' | 'offset' | null;
  /** The limit that we passed to the command itself; null if we passed none. */
  readonly read: number | null;
}

/** About 8,000 tokens of a model. */
const MOST_BYTES = 32_000;

const bytesOf = (document: Document): number => Buffer.byteLength(JSON.stringify(document));

/** The share of the entries that would fit; 1 or more if all do. */
const shareThatFits = (document: Document): number => MOST_BYTES / bytesOf(document);

const slugOf = (name: string): string => name.replaceAll(' ', '-');

/** The lists of a command's document that are given in parts. */
export const listsIn = ({ name }: CommandDescription): string[] =>
  name === 'search' ? ['offers'] : [...new Set(formsOf(readSchema(slugOf(name))).flatMap(listsOf))];

/**
 * Gives the part of each list that was asked for, and no more than fits. `total` and `left_out` count the entries,
 * where they are known, and `next_offset` gets the rest.
 */
export function bounded(command: CommandDescription, document: Document, page: Page): Document {
  const { offset, isChosen, paging, read } = page;
  const lists = listsIn(command).flatMap((name) => {
    const list = document[name];
    return Array.isArray(list) ? [{ name, list: list as readonly unknown[] }] : [];
  });
  const longest = Math.max(0, ...lists.map(({ list }) => list.length));
  // A page is never cut: its cursor goes on where the page ends.
  if (paging === 'cursor' || longest === 0) return document;
  const isKnown = read === null || longest < read;
  const part = (limit: number): Document => {
    const end = offset + limit;
    if (longest <= end && offset === 0) return document;
    const each = (value: (list: readonly unknown[]) => unknown) =>
      Object.fromEntries(lists.map(({ name, list }) => [name, value(list)]));
    return {
      ...document,
      ...each((list) => list.slice(offset, end)),
      ...(isKnown && { total: each((list) => list.length), left_out: each((list) => Math.max(0, list.length - end)) }),
      ...(longest > end && paging && { next_offset: end }),
    };
  };
  let { limit } = page;
  let shown = part(limit);
  while (!isChosen && limit > 1 && shareThatFits(shown) < 1) {
    limit = Math.max(1, Math.floor(Math.min(limit - 1, Math.min(limit, longest) * shareThatFits(shown))));
    shown = part(limit);
  }
  return shown;
}

/** Asks again, for fewer entries, while a page of the service is too long. */
export async function pageThatFits<T extends { readonly document: Document | null }>(
  { paging, isChosen, limit }: Page,
  first: T,
  again: (fewer: number) => Promise<T>,
): Promise<T> {
  let answer = first;
  for (let most = limit; paging === 'cursor' && !isChosen && answer.document && most > 1; ) {
    const share = shareThatFits(answer.document);
    if (share >= 1) break;
    most = Math.max(1, Math.floor(Math.min(most - 1, most * share)));
    answer = await again(most);
  }
  return answer;
}

/** Commands whose answer says what `book` will need of each passenger. */
const SAYS_FIELDS: ReadonlySet<string> = new Set(['offer', 'intent create', 'status']);

/** Adds to an answer the fields that each passenger of its offer needs. */
export function withPassengerFields({ name }: CommandDescription, document: Document): Document {
  const { offer = document } = document;
  // A booking under way needs no passengers.
  const isUnpaid = name !== 'status' || document.booking_requested_at === null;
  if (!SAYS_FIELDS.has(name) || !isUnpaid || !isRecord(offer) || typeof offer.offer_id !== 'string') return document;
  const isNeeded = offer.identity_documents_required === true || offer.offer_id.startsWith('lowcost:');
  return { ...document, passenger_fields: [...BASE_FIELDS, ...(isNeeded ? DOCUMENT_FIELDS : [])] };
}

type Schema = Readonly<Record<string, unknown>>;

/** The document of a failed call: clients check it against the schema too. */
const FAILURE: Schema = { type: 'object', properties: { error: { type: 'object' } }, required: ['error'] };

/** The forms that a command's document can have. */
export const formsOf = (published: Schema): Schema[] => [
  published,
  ...Object.values((published.$defs ?? {}) as Record<string, Schema>),
];

export const listsOf = ({ properties = {} }: Schema): string[] =>
  Object.entries(properties as Record<string, { type?: unknown }>)
    .filter(([, schema]) => schema.type === 'array')
    .map(([name]) => name);

const COUNTS: Schema = { type: 'object', additionalProperties: { type: 'integer' } };

/** Fields that we add to the document of a command. */
const BESIDE: Readonly<Record<string, Schema>> = { total: COUNTS, left_out: COUNTS, next_offset: { type: 'integer' } };

/** The schema of an answer: `{ error }`, or that of `farelock schema <command>` without its descriptions. */
export function outputSchemaOf({ name }: CommandDescription): { readonly type: 'object' } & Schema {
  const published = readSchema(slugOf(name));
  const { $schema: _dialect, $id: _id, title: _title, $defs = {}, ...document } = published;
  const short = portable({ ...document, $defs }) as Schema;
  for (const form of formsOf(short)) {
    if (listsOf(form).length > 0)
      Object.assign(form.properties as object, { ...BESIDE, ...(form.properties as object) });
    if (SAYS_FIELDS.has(name))
      Object.assign(form.properties ?? {}, { passenger_fields: { type: 'array', items: { type: 'string' } } });
  }
  const { $defs: forms, ...whole } = short;
  return sharing({ type: 'object', anyOf: [FAILURE, whole], $defs: forms });
}

/**
 * Keeps names, types and choices, but no descriptions or patterns: a client reads the whole list of tools. Splits a
 * list of types into `anyOf`, because clients of several vendors refuse it.
 */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !isLeftOut(name, value))
      .map(([name, value]) => [name, name === WITHHELD ? { type: 'null' } : portable(value)]),
  );
  // A property may be called `type`: its value is a schema, not a list of names.
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  return { anyOf: type.map((one: unknown) => (one === 'null' ? { type: one } : { type: one, ...rest })) };
}

/** A property may have such a name too: its value is a schema, not a text or a number. */
const isLeftOut = (name: string, value: unknown): boolean =>
  ((name === 'description' || name === 'pattern') && typeof value === 'string') ||
  ((name === 'minimum' || name === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** Writes repeated parts of a schema once: an offer's slices, the two halves of an order. */
function sharing(schema: { readonly type: 'object' } & Schema): { readonly type: 'object' } & Schema {
  const times = new Map<string, number>();
  const count = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isWorthSharing(value)) {
      const text = JSON.stringify(value);
      const before = times.get(text) ?? 0;
      times.set(text, before + 1);
      if (before > 0) return;
    }
    for (const inner of Object.values(value)) count(inner);
  };
  count(schema);
  const shared = new Map<string, { readonly name: string; schema: unknown }>();
  const written = (value: unknown, isRoot = false): unknown => {
    if (Array.isArray(value)) return value.map((one) => written(one));
    if (typeof value !== 'object' || value === null) return value;
    const text = JSON.stringify(value);
    const inside = () => Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, written(inner)]));
    if (isRoot || !isWorthSharing(value) || (times.get(text) ?? 0) < 2) return inside();
    let known = shared.get(text);
    if (!known) {
      known = { name: `s${shared.size}`, schema: null };
      shared.set(text, known);
      known.schema = inside();
    }
    return { $ref: `#/$defs/${known.name}` };
  };
  const { $defs, ...root } = written(schema, true) as Schema;
  const defs = {
    ...($defs as Schema),
    ...Object.fromEntries([...shared.values()].map(({ name, schema: own }) => [name, own])),
  };
  return { ...root, type: 'object', ...(Object.keys(defs).length > 0 && { $defs: defs }) };
}

/** True for a schema, not a list of properties, that is longer than a reference to it. */
const isWorthSharing = (value: object): boolean =>
  ('type' in value ? typeof value.type === 'string' : 'anyOf' in value && Array.isArray(value.anyOf)) &&
  JSON.stringify(value).length > 60;

/** The code entitles its holder to the refund: no model sees it, and the tool keeps it sealed. */
const WITHHELD = 'customer_support_code';

/** Removes the code from an answer for a model, at any depth. */
export const withheld = (document: Schema): Schema =>
  JSON.parse(JSON.stringify(document, (name, inner: unknown) => (name === WITHHELD ? null : inner)));
