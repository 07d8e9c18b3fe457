import * as z from 'zod';
import type { LazySchema, Route } from './routes.ts';

type Shape = z.core.JSONSchema.BaseSchema;

const shapes = new WeakMap<LazySchema, Promise<{ readonly shape: Shape; readonly example: unknown }>>();

/**
 * Describes a call for an index of paid services (`bazaar` of x402): method, inputs, an example. The body's schema has
 * only the types of required fields and the names of others, because all of it would not fit into a response header;
 * /openapi.json has the rest.
 */
export async function discoveryOf<C, O>(route: Route<C, O>, params: Readonly<Record<string, string>>) {
  const { method, path, body, headers = [] } = route;
  const made = body && (await shapeOf(body));
  const names = headers.filter(({ required }) => required).map(({ name }) => name);
  const isInPath = Object.keys(params).length > 0;
  const input = {
    ...{ type: 'http', method },
    ...(made && { bodyType: 'json', body: made.example }),
    ...(isInPath && { pathParams: params }),
    ...(names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, ''])) }),
  };
  const properties = {
    ...{ type: { const: 'http' }, method: { enum: [method] } },
    ...(made && { bodyType: { const: 'json' }, body: made.shape }),
    ...(isInPath && { pathParams: { type: 'object', required: Object.keys(params) } }),
    ...(names.length > 0 && { headers: { type: 'object', required: names } }),
  };
  return {
    info: { input },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: { type: 'object', properties, required: Object.keys(input) } },
      required: ['input'],
    },
    ...(isInPath && { routeTemplate: path.replace(/\{(\w+)\}/g, ':$1') }),
  };
}

function shapeOf(body: LazySchema) {
  const made = shapes.get(body) ?? body.load().then((schema) => shaped(schema));
  shapes.set(body, made);
  return made;
}

function shaped(schema: z.ZodType) {
  const whole = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return { shape: compact(whole), example: exampleOf(whole) };
}

function compact(schema: Shape): Shape {
  const { type, enum: choices, properties, required, items } = valued(schema);
  return {
    ...(choices ? { enum: choices } : type && { type }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, required?.includes(name) ? compact(one as Shape) : {}]),
      ),
    }),
    ...(required && { required }),
    ...(items && { items: compact(items as Shape) }),
  };
}

/** Drops null, which means the same as leaving the field out. */
function valued({ anyOf, ...schema }: Shape): Shape {
  const [one, ...others] = (anyOf ?? []).filter((some) => (some as Shape).type !== 'null');
  if (one && others.length === 0) return valued(one as Shape);
  const [type = schema.type] = [schema.type].flat().filter((some) => some !== 'null');
  return { ...schema, ...(type && { type }) };
}

/** Makes an example with the required fields only. */
function exampleOf({ examples, type, properties = {}, required = [] }: Shape): unknown {
  if (examples) return examples[0];
  if (type === 'array') return [];
  return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name] as Shape)]));
}
