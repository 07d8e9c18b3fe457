import * as z from 'zod';
import { FLIGHT_DOCUMENTS } from './flights.ts';
import { PARTNER_DOCUMENTS } from './partner.ts';
import type { Published } from './published.ts';
import { ERROR_DOCUMENT, TOOL_DOCUMENTS } from './tool.ts';

/** The published JSON Schemas: what each command prints under --json, made from the schemas of the services. */

export const DOCUMENTS: Readonly<Record<string, Published>> = {
  ...FLIGHT_DOCUMENTS,
  ...TOOL_DOCUMENTS,
  ...PARTNER_DOCUMENTS,
};

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** `intent create` is `intent-create` in the names of files and schemas. */
export const slugOf = (command: string): string => command.replaceAll(' ', '-');

/**
 * Every schema by the name of its file, without the folder.
 * @param describe what a command does, in a sentence
 */
export function publishedSchemas(describe: (command: string) => string): Record<string, object> {
  const files: Record<string, object> = {
    'error.schema.json': whole('error', {
      title: 'Any command --json, when it fails',
      description: 'One document on stdout; the exit code is of the table in docs/scripts.md.',
      ...plain(ERROR_DOCUMENT),
    }),
  };
  for (const [command, { document, others, plan, streams, lines }] of Object.entries(DOCUMENTS)) {
    const remark = streams ? ' When it is followed, a line of this for each change.' : '';
    const description = `${describe(command)}.${remark}`;
    const title = `farelock ${command} --json`;
    files[`${slugOf(command)}.schema.json`] = whole(
      slugOf(command),
      plan || others
        ? { title, description, ...either({ document, ...others, ...(plan && { plan }) }) }
        : { title, description, ...plain(document) },
    );
    if (lines) {
      files[`${slugOf(command)}-ndjson.schema.json`] = whole(`${slugOf(command)}-ndjson`, {
        title: `farelock ${command} --ndjson`,
        description: 'Each line.',
        ...either(lines),
      });
    }
  }
  return files;
}

const whole = (name: string, schema: object): object => ({
  $schema: DIALECT,
  $id: `urn:farelock:schema:${name}`,
  ...schema,
});

/** One of several: the `document`, another form of it, or the `plan` of --dry-run. */
const either = (kinds: Readonly<Record<string, z.ZodType>>): object => ({
  anyOf: Object.keys(kinds).map((kind) => ({ $ref: `#/$defs/${kind}` })),
  $defs: Object.fromEntries(Object.entries(kinds).map(([kind, schema]) => [kind, plain(schema)])),
});

function plain(schema: z.ZodType): object {
  const { $schema: _dialect, ...own } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' });
  return own;
}
