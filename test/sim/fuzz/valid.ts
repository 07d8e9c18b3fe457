import fc from 'fast-check';
import type { Schema } from './document.ts';

/**
 * What a field is tried with besides what its schema says: values that the service knows. `$name` stands for one that
 * only the running world has (an id, a wallet), put in when the request is sent, so that a run can be repeated.
 */
export type Known = Readonly<Record<string, readonly unknown[]>>;
const KNOWN: Known = {
  origin_iata: ['LIS', 'LHR', 'JFK'],
  destination_iata: ['BER', 'MAD', 'LIS'],
  depart_date: ['2026-12-20', '2026-11-21', '2027-02-30'],
  return_date: ['2026-12-27', '2026-12-19'],
  offer_id: ['$offer', '$dearest', 'lowcost:ZX1', 'lowcost:ZX1##1', '$lowcost', '$fare'],
  intent_id: ['$intent', '$booked', 'int_nothing'],
  search_id: ['$search', 'sea_nothing'],
  funding_wallet: ['$wallet', '$stranger'],
  refund_wallet: ['$wallet', '$escrow'],
  wallet: ['$wallet', '$stranger'],
  given_name: ['Ada', 'Grace'],
  family_name: ['Lovelace', 'O’Hara'],
  born_on: ['1990-12-10', '2020-01-01', '1990-02-30'],
  title: ['ms', 'dr', 'sir'],
  gender: ['f', 'm', 'x'],
  email: ['ada@example.org', 'nobody'],
  phone_number: ['+351912345678', '12'],
  nationality: ['PT', 'XX'],
  passport_number: ['AB123456'],
  passport_expiry: ['2031-01-01', '2026-11-20'],
  referrer: ['nobody'],
  reason: ['Illness in the family.'],
  contact: ['ada@example.org'],
  order_id: ['$order', 'ord_nothing'],
  code: ['$affiliate', 'nobody'],
};

type Parts = Readonly<Record<string, Schema>>;

/** Instances of a served schema. `known`: what the fields of another service are tried with. */
export function validOf(schema: Schema, parts: Parts, known: Known = KNOWN): fc.Arbitrary<unknown> {
  return arbitrary(schema, { parts, known }, null);
}

interface Given {
  readonly parts: Parts;
  readonly known: Known;
}

function arbitrary(schema: Schema, given: Given, field: string | null): fc.Arbitrary<unknown> {
  const known = field !== null && Object.hasOwn(given.known, field) ? given.known[field] : undefined;
  const made = ofSchema(schema, given);
  if (!known) return made;
  return fc.oneof({ arbitrary: fc.constantFrom(...known), weight: 7 }, { arbitrary: made, weight: 1 });
}

function ofSchema(schema: Schema, given: Given): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) {
    const part = given.parts[schema.$ref.split('/').at(-1) ?? ''];
    if (!part) throw new Error(`${schema.$ref} leads nowhere`);
    return ofSchema(part, given);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((one) => ofSchema(one, given)));
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0];
  switch (type) {
    case 'object':
      return objectOf(schema, given);
    case 'array':
      return fc.array(schema.items ? ofSchema(schema.items, given) : fc.jsonValue(), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 4, 4),
      });
    case 'integer':
      return fc.integer({ min: Math.max(schema.minimum ?? -1000, -1e9), max: Math.min(schema.maximum ?? 1000, 1e9) });
    case 'number':
      return fc.double({ min: schema.minimum ?? 0.01, max: schema.maximum ?? 1000, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return stringOf(schema);
    default:
      return fc.jsonValue();
  }
}

/** By pattern and lengths: fast-check takes long to make one, and a document names the same ones again and again. */
const strings = new Map<string, fc.Arbitrary<string>>();

function stringOf(schema: Schema): fc.Arbitrary<string> {
  const key = JSON.stringify([schema.pattern, schema.minLength, schema.maxLength]);
  const made = strings.get(key) ?? newString(schema);
  strings.set(key, made);
  return made;
}

function newString(schema: Schema): fc.Arbitrary<string> {
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern));
  const minLength = schema.minLength ?? 0;
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(schema.maxLength ?? 30, 40)) });
}

function objectOf(schema: Schema, given: Given): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, one]) => [name, arbitrary(one, given, name)] as const,
  );
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
}
