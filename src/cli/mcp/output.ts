import { readSchema } from '../spec/index.ts';

/** The output schema of a tool: its command's published one, in the form that clients of the protocol take. */

type Schema = Readonly<Record<string, unknown>>;

/** A failed call has this instead; clients hold failures against the schema as well. */
const FAILURE: Schema = { type: 'object', properties: { error: { type: 'object' } }, required: ['error'] };

/** The forms that a command's document can have. */
export const formsOf = (published: Schema): Schema[] => [
  published,
  ...Object.values((published.$defs ?? {}) as Record<string, Schema>),
];

/** The lists of a form. */
export const listsOf = ({ properties = {} }: Schema): string[] =>
  Object.entries(properties as Record<string, { type?: unknown }>)
    .filter(([, schema]) => schema.type === 'array')
    .map(([name]) => name);

/** How many entries of each list an answer does not have. */
const LEFT_OUT: Schema = { type: 'object', additionalProperties: { type: 'integer' } };

/**
 * `{ error }`, or the command's document: `farelock schema <command>` without the words that its page has.
 * @param isBounded its lists may be cut
 */
export function outputSchemaOf(command: string, isBounded: boolean): { readonly type: 'object' } & Schema {
  const published = readSchema(command.replaceAll(' ', '-'));
  const { $schema: _dialect, $id: _id, title: _title, $defs = {}, ...document } = published;
  const short = portable(shortened({ ...document, $defs })) as Schema;
  if (isBounded)
    for (const form of formsOf(short).filter((one) => listsOf(one).length > 0))
      Object.assign(form.properties as object, { left_out: LEFT_OUT });
  const { $defs: forms, ...whole } = short;
  return sharing({ type: 'object', anyOf: [FAILURE, whole], $defs: forms });
}

/** A list of tools is read whole: names, types and choices are told, their descriptions and patterns are on the page. */
function shortened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(shortened);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([name, value]) => !isLeftOut(name, value))
      .map(([name, value]) => [name, name === WITHHELD ? { type: 'null' } : shortened(value)]),
  );
}

/** One type for each form: clients of several vendors refuse a list of types. */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { type, ...rest } = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, portable(value)]));
  // A property may be called `type`: it has a schema, not a list of names.
  if (!Array.isArray(type)) return type === undefined ? rest : { type, ...rest };
  return { anyOf: type.map((one: unknown) => (one === 'null' ? { type: one } : { type: one, ...rest })) };
}

/** A property of such a name has a schema, not a text or a number. */
const isLeftOut = (name: string, value: unknown): boolean =>
  ((name === 'description' || name === 'pattern') && typeof value === 'string') ||
  ((name === 'minimum' || name === 'maximum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER);

/** Writes once what the schema repeats: an offer's slices, the two halves of an order. */
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

/** A schema, rather than a list of properties, and longer than what points at it. */
const isWorthSharing = (value: object): boolean =>
  ('type' in value ? typeof value.type === 'string' : 'anyOf' in value && Array.isArray(value.anyOf)) &&
  JSON.stringify(value).length > 60;

/** The tool remembers it, sealed; who knows it can ask for the refund. */
const WITHHELD = 'customer_support_code';

/** An answer as a model may see it, however deep the code lies in it. */
export const withheld = (document: Schema): Schema =>
  Object.fromEntries(
    Object.entries(document).map(([name, value]) => [name, name === WITHHELD ? null : withheldIn(value)]),
  );

function withheldIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withheldIn);
  return typeof value === 'object' && value !== null ? withheld({ ...value }) : value;
}
