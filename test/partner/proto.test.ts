import { join, resolve } from 'node:path';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATIONS, openStack, type Stack } from './stack.ts';

/** The .proto files and the schemas that requests are read with say the same, field by field and value by value. */

const PROTO = resolve(import.meta.dirname, '../../proto');

interface Schema {
  readonly type?: string;
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

let stack: Stack;
let schemas: Readonly<Record<string, Schema>>;
let root: protobuf.Root;

beforeAll(async () => {
  stack = await openStack();
  const { body } = await stack.call<{ components: { schemas: Record<string, Schema> } }>(
    '/partner/openapi.json',
    undefined,
    { method: 'GET' },
  );
  schemas = body.components.schemas;
  root = new protobuf.Root();
  root.resolvePath = (_, target) => join(PROTO, target);
  root.loadSync(['farelock/core/v1/partner.proto', 'farelock/core/v1/customer.proto']);
  root.resolveAll();
});
afterAll(() => stack.close());

/** Members of the .proto that JSON never has: the zero of an enum. */
const isZero = (value: string) => value.endsWith('_UNSPECIFIED');

function differences(at: string, type: protobuf.ReflectionObject | null, given: Schema): string[] {
  const schema = given.$ref ? (schemas[given.$ref.split('/').at(-1) ?? ''] ?? {}) : given;
  if (schema.anyOf) return schema.anyOf.flatMap((one) => (one.type === 'null' ? [] : differences(at, type, one)));
  if (schema.type === 'array') return differences(`${at}[]`, type, schema.items ?? {});
  if (type instanceof protobuf.Enum) {
    const named = Object.keys(type.values)
      .filter((value) => !isZero(value))
      .sort();
    const listed = [...(schema.enum ?? [])].sort();
    return JSON.stringify(named) === JSON.stringify(listed) ? [] : [`${at}: ${named} / ${listed}`];
  }
  if (!(type instanceof protobuf.Type)) return schema.properties ? [`${at}: no message`] : [];
  const [fields, properties] = [type.fields, schema.properties ?? {}];
  const names = new Set([...Object.keys(fields), ...Object.keys(properties)]);
  return [...names].flatMap((name) => {
    const [field, property] = [fields[name], properties[name]];
    // The synonyms of the specification's sample are read, never written.
    const isSynonym = ['accountNumber', 'routingNumber', 'reference'].includes(name);
    if (field && !property && isSynonym && at.endsWith('depositInstructions')) return [];
    if (!field || !property) return [`${at}.${name}: only in ${field ? 'the .proto' : 'the schema'}`];
    return differences(`${at}.${name}`, field.resolvedType, property);
  });
}

test.each(['partner', 'customer'] as const)('of the %s service', (service) => {
  for (const operation of OPERATIONS[service]) {
    for (const what of ['Request', 'Response'] as const) {
      const name = `${operation}${what}`;
      const type = root.lookupType(`farelock.core.v1.${service}.${name}`);
      expect(differences(name, type, schemas[name] ?? {})).toEqual([]);
    }
  }
});
