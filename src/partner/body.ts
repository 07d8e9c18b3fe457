import type * as z from 'zod';
import { repeatedName } from '../domain/repeated-names.ts';
import { mediaTypeOf, readBytes } from '../http/body.ts';
import { problem } from '../kernel/problems.ts';
import { type Issue, normaliseProtoJson } from './protojson.ts';

/** Most of a request's body. Customer data holds pictures, which travel as base64. */
export const MOST_BODY_BYTES = 64 * 1024;
export const MOST_DATA_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Reads a message in Connect's JSON codec. An empty body is an empty message, as stock clients may send one.
 * @throws Problem `unsupported_media_type`, `payload_too_large` (also for a chunked body, as soon as it is known),
 *   `invalid_json`, `invalid_request` with `detail.issues`
 */
export async function readMessage<S extends z.ZodType>(
  request: Request,
  schema: S,
  mostBytes: number = MOST_BODY_BYTES,
): Promise<z.output<S>> {
  if (mediaTypeOf(request) !== 'application/json') throw problem('unsupported_media_type');
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') {
    throw problem('unsupported_media_type', {
      message: 'Compressed bodies are not read.',
      fix: 'Send the body without Content-Encoding.',
    });
  }
  return parseMessage(await readBytes(request, mostBytes), schema);
}

/** Reads an operator's JSON, which has one form only. @throws Problem as `readMessage` does */
export async function readJson<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  if (mediaTypeOf(request) !== 'application/json') throw problem('unsupported_media_type');
  const parsed = schema.safeParse(parseJson(await readBytes(request, MOST_BODY_BYTES)), {
    reportInput: true,
  });
  if (parsed.success) return parsed.data;
  refuse(issuesOf(parsed.error, (path) => path.map(String).join('.')));
}

function parseMessage<S extends z.ZodType>(bytes: Uint8Array, schema: S): z.output<S> {
  const given = parseJson(bytes);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse([{ path: '', message: 'The body is a JSON object.' }]);
  const { value, issues, asSent } = normaliseProtoJson(given);
  if (issues.length > 0) refuse(issues);
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  refuse(issuesOf(parsed.error, asSent));
}

const issuesOf = (error: z.ZodError, named: (path: readonly PropertyKey[]) => string): Issue[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: named([...issue.path, key]), message: 'is not a known field.' }))
      : [{ path: named(issue.path), message: wordOf(issue) }],
  );

function refuse(issues: readonly Issue[]): never {
  throw problem('invalid_request', { detail: { issues } });
}

/** A missing field says so, whatever its kind; the other words are the schema's. Values are never repeated. */
function wordOf(issue: z.core.$ZodIssue): string {
  const isOfKind = issue.code === 'invalid_type' || issue.code === 'invalid_value';
  if (isOfKind && issue.input === undefined) return 'is required.';
  return issue.code === 'invalid_value' && issue.message.startsWith('Invalid option')
    ? `is one of ${issue.values.map(String).join(', ')}.`
    : issue.message;
}

function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {};
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw problem('invalid_json', { cause });
  }
  const path = repeatedName(text);
  if (path !== null) refuse([{ path: path.slice(0, 200), message: 'is given twice: give it once.' }]);
  return value;
}
