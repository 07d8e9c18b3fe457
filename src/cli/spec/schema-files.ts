import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isRecord } from '../../terminal/index.ts';
import type { CommandSpec } from './command.ts';

/** From dist/ or a folder in it, or from src/cli/spec/ in a checkout. */
const CANDIDATES = ['../docs/schemas/', '../../docs/schemas/', '../../../docs/schemas/'];

function folder(): string {
  const found = CANDIDATES.map((one) => fileURLToPath(new URL(one, import.meta.url))).find(existsSync);
  if (found === undefined) throw new Error('docs/schemas is not in the package');
  return found;
}

const ENDING = '.schema.json';

/** The names of the published schemas, such as `intent-create`. */
export const schemaNames = (): string[] =>
  readdirSync(folder())
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .sort();

/** The name of a command's schema; an old name has the schema of the command to use instead. */
export const schemaNameOf = ({ name, now = name }: Pick<CommandSpec, 'name' | 'now'>): string =>
  (now.split(/ [<-]/)[0] ?? name).replaceAll(' ', '-');

/** The address of a published schema on this machine, for editors. */
export const schemaAddress = (name: string): string => pathToFileURL(join(folder(), `${name}${ENDING}`)).href;

/** A published schema, by a name of `schemaNames`. */
export const readSchema = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder(), `${name}${ENDING}`), 'utf8')) as Record<string, unknown>;

/**
 * The fields that `--json` can choose: of a command's document or the entries of its list, of its other documents, and
 * of the rows of its plan. Empty if they are not fixed.
 */
export function fieldsOf(spec: Pick<CommandSpec, 'name' | 'now' | 'list'>): string[] {
  const { list } = spec;
  const schema = readSchema(schemaNameOf(spec));
  const { document = schema, plan, ...others } = isRecord(schema.$defs) ? schema.$defs : {};
  const chosen = list === undefined ? document : entryOf(document, list);
  if (isRecord(chosen) && isRecord(chosen.additionalProperties)) return [];
  return [...new Set([chosen, ...Object.values(others).map(onlyEntryOf), entryOf(plan, 'plan')].flatMap(namesOf))];
}

/** The entry of a document that is only a list; any other document itself. */
function onlyEntryOf(schema: unknown): unknown {
  const [[name, more] = []] = [Object.keys(isRecord(schema) && isRecord(schema.properties) ? schema.properties : {})];
  return (name !== undefined && more === undefined && entryOf(schema, name)) || schema;
}

/** The schema of an entry of a list, by the list's name. */
function entryOf(schema: unknown, list: string): unknown {
  const lists = isRecord(schema) && isRecord(schema.properties) ? schema.properties[list] : null;
  return isRecord(lists) ? lists.items : null;
}

/** The names of the properties of an object, or of all its alternatives. */
function namesOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const { properties, anyOf } = schema;
  const forms: unknown[] = Array.isArray(anyOf) ? anyOf : [];
  return [...(isRecord(properties) ? Object.keys(properties) : []), ...forms.flatMap(namesOf)];
}
