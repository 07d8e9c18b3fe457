import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { JSON_FIELDS } from '../../src/cli/spec/json.ts';
import { buildProgram } from '../../src/cli/spec/program.ts';
import { describeTool } from '../../src/cli/spec/registry.ts';
import { DOCUMENTS, publishedSchemas } from '../../src/published/index.ts';

/** docs/schemas is what the sources say: `npm run schemas` writes it anew. */

const FOLDER = resolve(import.meta.dirname, '../../docs/schemas');

const tool = describeTool(buildProgram('9.9.9', { write: () => undefined, width: 80 }, () => undefined));
const commands = new Map(tool.commands.map((one) => [one.name, one]));
const schemas = publishedSchemas((name) => commands.get(name)?.description ?? name);

if (process.env.WRITE_SCHEMAS) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const [file, schema] of Object.entries(schemas)) {
    writeFileSync(join(FOLDER, file), `${JSON.stringify(schema, null, 2)}\n`);
  }
}

test('no command lacks a schema, and no schema a command (src/published)', () => {
  expect(Object.keys(DOCUMENTS).sort()).toEqual([...commands.keys()].sort());
});

test('every command that pays or changes something has a plan for --dry-run', () => {
  const changing = tool.commands.filter(({ effect }) => ['pays', 'changes', 'local'].includes(effect));
  expect(changing.map(({ name }) => name).filter((name) => !DOCUMENTS[name]?.plan)).toEqual([]);
});

test('the files are those that the sources make: npm run schemas', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(schemas).sort());
  for (const [file, schema] of Object.entries(schemas)) {
    expect(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')), file).toEqual(
      JSON.parse(JSON.stringify(schema)),
    );
  }
});

test('they ship with the package', () => {
  const { files } = JSON.parse(readFileSync(join(FOLDER, '../../package.json'), 'utf8')) as {
    files: string[];
  };
  expect(files).toContain('docs/schemas/**/*.json');
});

test.each(Object.entries(schemas))(
  '%s is a schema of draft 2020-12 that a strict validator takes',
  (_file, schema) => {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, validateFormats: false });
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(() => ajv.compile(schema)).not.toThrow();
  },
);

/** The names of the properties of an object, or of any of several. */
function propertiesOf(schema: unknown): string[] {
  const { properties = {}, anyOf = [] } = schema as { properties?: object; anyOf?: unknown[] };
  return [...new Set([...Object.keys(properties), ...anyOf.flatMap(propertiesOf)])];
}

describe('the fields that --json can choose are those of the schema', () => {
  test.each(Object.keys(DOCUMENTS).filter((name) => (JSON_FIELDS[name] ?? []).length > 0))('%s', (name) => {
    const { list, others = {} } = DOCUMENTS[name] ?? {};
    const file = schemas[`${name.replaceAll(' ', '-')}.schema.json`] as { $defs?: Record<string, unknown> };
    const document: unknown = file.$defs?.document ?? file;
    const chosen = list
      ? propertiesOf((document as { properties: Record<string, { items: unknown }> }).properties[list]?.items)
      : propertiesOf(document);
    const planned = ['plan', ...Object.keys(others)].flatMap((form) =>
      propertiesOf(file.$defs?.[form] ?? {}),
    );
    const fields = JSON_FIELDS[name] ?? [];
    expect(chosen.filter((field) => !fields.includes(field))).toEqual([]);
    const rowsOfPlan =
      name === 'partner orders apply' ? ['row', 'line', 'orderId', 'from', 'to', 'kind', 'why'] : [];
    const known = [...chosen, ...planned, ...rowsOfPlan];
    expect(fields.filter((field) => !known.includes(field))).toEqual([]);
  });
});
