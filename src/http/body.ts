import type * as z from 'zod';
import { repeatedName } from '../kernel/domain/repeated-names.ts';
import { type HttpRequest, readBody } from '../kernel/http.ts';
import { problem } from '../kernel/problems.ts';
import type { JsonForm } from './routes.ts';

export const MOST_BODY_BYTES = 64 * 1024;

export interface Issue {
  readonly path: string;
  readonly message: string;
}

/**
 * Reads a JSON body. Returns its value and its bytes as sent.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `body_incomplete`, `invalid_json`, `invalid_request`
 */
export async function readJson(
  request: HttpRequest,
  mostBytes: number = MOST_BODY_BYTES,
  form: JsonForm = {},
): Promise<{ value: unknown; bytes: Uint8Array<ArrayBuffer> }> {
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json') throw problem('unsupported_media_type');
  const bytes = await readBytes(request, mostBytes);
  return { value: parsed(bytes, form), bytes };
}

/** Reads a body up to the limit. @throws Problem `payload_too_large`; `body_incomplete` if the client goes away */
export async function readBytes(request: HttpRequest, mostBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () => problem('payload_too_large', { message: `The body is larger than ${mostBytes / 1024} KiB.` });
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) throw tooLarge();
  const bytes = await readBody(request.body, mostBytes).catch((cause: unknown) => {
    throw problem('body_incomplete', { cause });
  });
  if (bytes === null) throw tooLarge();
  return bytes;
}

function parsed(bytes: Uint8Array, { mayBeEmpty, namesOnce }: JsonForm): unknown {
  if (mayBeEmpty && bytes.length === 0) return {};
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw problem('invalid_json', { cause });
  }
  const path = namesOnce ? repeatedName(text) : null;
  if (path !== null) refuse([{ path: path.slice(0, 200), message: 'is given twice: give it once.' }]);
  return value;
}

type Named = (path: readonly PropertyKey[]) => string;
const dotted: Named = (path) => path.map(String).join('.');

/** Parses a value with its schema. @throws Problem `invalid_request` with `detail.issues` */
export function checked<S extends z.ZodType>(schema: S, value: unknown, named: Named = dotted): z.output<S> {
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? result.data : refuse(issuesOf(result.error, named));
}

export function refuse(issues: readonly Issue[]): never {
  throw problem('invalid_request', { detail: { issues } });
}

/** Makes an issue per field. An unknown field is named itself, not by its parent. Values are never repeated. */
export const issuesOf = (error: z.ZodError, named: Named = dotted, worded = wordOf): Issue[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: named([...issue.path, key]), message: 'is not a known field.' }))
      : [{ path: named(issue.path), message: worded(issue) }],
  );

/** Words an issue. A missing field is called required, whatever its type. */
function wordOf(issue: z.core.$ZodIssue): string {
  const isOfKind = issue.code === 'invalid_type' || issue.code === 'invalid_value';
  if (isOfKind && issue.input === undefined) return 'is required.';
  return issue.code === 'invalid_value' && issue.message.startsWith('Invalid option')
    ? `must be one of ${issue.values.map(String).join(', ')}.`
    : issue.message;
}

/** Reads query parameters; refuses repeated and unknown ones. @throws Problem `invalid_request` */
export async function readQuery(url: URL, schema: { load(): Promise<z.ZodType> } | undefined): Promise<unknown> {
  const names = [...new Set(url.searchParams.keys())];
  if (!schema) {
    if (names.length > 0) refuse(names.map((path) => ({ path, message: 'is not a known query parameter.' })));
    return {};
  }
  const twice = names.filter((name) => url.searchParams.getAll(name).length > 1);
  if (twice.length > 0) refuse(twice.map((path) => ({ path, message: 'is given twice.' })));
  return checked(await schema.load(), Object.fromEntries(url.searchParams));
}
