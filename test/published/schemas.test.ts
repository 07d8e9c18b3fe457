import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { recipeSchema } from '../../src/airlines/browser/recipes/recipe.ts';
import { TOOL } from '../../src/cli/commands/index.ts';
import { type CommandSpec, commandsOf } from '../../src/cli/spec/command.ts';
import type { Published } from '../../src/cli/spec/published.ts';
import { fieldsOf } from '../../src/cli/spec/schema-files.ts';
import { publishedSchemas } from '../../src/cli/spec/schemas.ts';

/** docs/schemas is what the sources say: `npm run schemas` writes it anew. */

const FOLDER = resolve(import.meta.dirname, '../../docs/schemas');

const COMMANDS = resolve(import.meta.dirname, '../../src/cli/commands');
const families = readdirSync(COMMANDS, { withFileTypes: true }).filter((one) => one.isDirectory());

/** The schema of a command has the name of its spec, in `result.ts` beside it. */
async function schemasOf(family: string): Promise<[string, Published | undefined][]> {
  const specs = (await import(join(COMMANDS, family, 'spec.ts'))) as Record<string, CommandSpec>;
  const results = (await import(join(COMMANDS, family, 'result.ts'))) as Record<string, Published>;
  return Object.entries(specs).map(([name, spec]) => [spec.name, results[name]]);
}

const schemaOf = new Map((await Promise.all(families.map(({ name }) => schemasOf(name)))).flat());
const commands = commandsOf(TOOL).map((spec) => ({ ...spec, published: schemaOf.get(spec.name) as Published }));
const schemas = publishedSchemas(commands, recipeSchema);

if (process.env.WRITE_SCHEMAS) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, schema] of Object.entries(schemas)) {
    writeFileSync(join(FOLDER, file), `${JSON.stringify(schema, null, 1)}\n`);
  }
}

test('every command has a schema of its own', () => {
  expect(commands.filter(({ published }) => published === undefined)).toEqual([]);
  expect(new Set(commands.map(({ published }) => published)).size).toBe(commands.length);
});

test('every command that pays or changes something has a plan for --dry-run', () => {
  const changing = commands.filter(({ effect }) => ['pays', 'changes', 'local'].includes(effect));
  expect(changing.filter(({ published }) => !published.plan).map(({ name }) => name)).toEqual([]);
});

test('the files are those that the sources make: npm run schemas', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(schemas).sort());
  for (const [file, schema] of Object.entries(schemas)) {
    expect(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')), file).toEqual(JSON.parse(JSON.stringify(schema)));
  }
});

test('they ship with the package', () => {
  const { files } = JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8')) as { files: string[] };
  expect(files).toContain('docs/schemas/**/*.json');
});

const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false });
test.each(Object.entries(schemas))('%s is a schema of draft 2020-12 that a strict validator takes', (_file, schema) => {
  expect(ajv.validateSchema(schema)).toBe(true);
  expect(() => ajv.compile(schema)).not.toThrow();
});

test('the schema of recipes takes the examples with their comments, and refuses a misspelt key', () => {
  const fits = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false }).compile(
    schemas['recipe.schema.json'] ?? false,
  );
  const folder = join(FOLDER, '../recipes');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.json'))) {
    const recipe = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, object>;
    expect(fits(recipe), `${name}: ${JSON.stringify(fits.errors)}`).toBe(true);
    expect(fits({ ...recipe, search: { ...recipe.search, stepps: [] } })).toBe(false);
  }
});

/** The names of the properties of an object, or of any of several. */
function propertiesOf(schema: unknown): string[] {
  const { properties = {}, anyOf = [] } = schema as { properties?: object; anyOf?: unknown[] };
  return [...new Set([...Object.keys(properties), ...anyOf.flatMap(propertiesOf)])];
}

/** The entry of a form that is one list; another form itself. */
function entryOf(form: unknown): unknown {
  const { properties = {} } = (form ?? {}) as { properties?: Record<string, { items?: unknown }> };
  const [only, another] = Object.values(properties);
  return another === undefined && only?.items ? only.items : form;
}

test('every command has fields to choose but those whose documents have none of their own', () => {
  const without = commands.filter((spec) => fieldsOf(spec).length === 0).map(({ name }) => name);
  expect(without.sort()).toEqual(['guided', 'mcp', 'refund desk', 'schema']);
});

describe('the fields that --json can choose are those of the schema', () => {
  test.each(commands.filter((spec) => fieldsOf(spec).length > 0))('$name', (spec) => {
    const { name, list, published } = spec;
    const { others = {} } = published;
    const file = schemas[`${name.replaceAll(' ', '-')}.schema.json`] as { $defs?: Record<string, unknown> };
    const document: unknown = file.$defs?.document ?? file;
    const chosen = list
      ? propertiesOf((document as { properties: Record<string, { items: unknown }> }).properties[list]?.items)
      : propertiesOf(document);
    const planned = ['plan', ...Object.keys(others)].flatMap((form) => propertiesOf(entryOf(file.$defs?.[form]) ?? {}));
    const fields = fieldsOf(spec);
    expect(chosen.filter((field) => !fields.includes(field))).toEqual([]);
    const rowsOfPlan = name === 'partner orders apply' ? ['row', 'line', 'orderId', 'from', 'to', 'kind', 'why'] : [];
    const known = [...chosen, ...planned, ...rowsOfPlan];
    expect(fields.filter((field) => !known.includes(field))).toEqual([]);
  });
});
