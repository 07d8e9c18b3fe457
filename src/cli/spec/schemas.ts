import * as z from 'zod';
import type { Published } from './published.ts';

/** The document of any command under --json when it fails. */
const ERROR_DOCUMENT = z.strictObject({
  error: z.strictObject({
    code: z.string().describe('Stable; farelock explain <code> says more.'),
    message: z.string(),
    fix: z.string().describe('What to do.'),
    retryable: z.boolean().describe('The same command may go through later.'),
    next: z.array(z.string()).describe('Commands that help now.'),
    detail: z.record(z.string(), z.unknown()).optional(),
  }),
});

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** `intent create` is `intent-create` in the names of files and schemas. */
const slugOf = (command: string): string => command.replaceAll(' ', '-');

/** Every schema by the name of its file, without the folder. */
export function publishedSchemas(
  commands: readonly { readonly name: string; readonly summary: string; readonly published: Published }[],
  recipe: z.ZodType,
): Record<string, object> {
  const files: Record<string, object> = {
    'error.schema.json': whole('error', {
      title: 'Any command --json, when it fails',
      description: 'One document on stdout; the exit code is of the table in docs/scripts.md.',
      ...plain(ERROR_DOCUMENT),
    }),
    'recipe.schema.json': whole('recipe', {
      title: "A recipe for a carrier's site",
      description: 'docs/carriers.md describes it, and farelock recipe check knows more than a schema can say.',
      ...plain(recipe, { io: 'input', reused: 'ref', override: withComments }),
    }),
  };
  for (const { name: command, summary, published } of commands) {
    const { document, others, plan, streams, lines } = published;
    const remark = streams ? ' When it is followed, a line of this for each change.' : '';
    const description = `${summary}.${remark}`;
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

/** A schema of several documents, each under its kind; `plan` is that of --dry-run. */
const either = (kinds: Readonly<Record<string, z.ZodType>>): object => ({
  anyOf: Object.keys(kinds).map((kind) => ({ $ref: `#/$defs/${kind}` })),
  $defs: Object.fromEntries(Object.entries(kinds).map(([kind, schema]) => [kind, plain(schema)])),
});

type How = NonNullable<Parameters<typeof z.toJSONSchema>[1]>;

function plain(schema: z.ZodType, how: How = { io: 'output' }): object {
  const { $schema: _dialect, ...own } = z.toJSONSchema(schema, { target: 'draft-2020-12', ...how });
  return own;
}

/** A comment may be in any object of a recipe. */
const withComments: NonNullable<How['override']> = ({ jsonSchema }) => {
  if (jsonSchema.additionalProperties === false) jsonSchema.properties = { ...jsonSchema.properties, '//': {} };
};
