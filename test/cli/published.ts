import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** The published schemas, as a script on another machine would use them: files, and a validator of its own. */

const FOLDER = resolve(import.meta.dirname, '../../docs/schemas');

const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: false });
formats.default(ajv);

for (const file of readdirSync(FOLDER)) {
  ajv.addSchema(JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as object);
}

/** What is wrong with a document; empty when it is as published. */
export function faultsOf(name: string, document: unknown): string[] {
  const validate = ajv.getSchema(`urn:farelock:schema:${name.replaceAll(' ', '-')}`);
  if (!validate) return [`there is no schema ${name}`];
  if (validate(document)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }: ErrorObject) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
