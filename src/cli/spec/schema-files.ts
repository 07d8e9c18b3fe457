import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** From src/cli/ in a checkout, from dist/ (or a folder in it) in the package. */
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

/** A published schema, by a name of `schemaNames`. */
export const readSchema = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(folder(), `${name}${ENDING}`), 'utf8')) as Record<string, unknown>;
