import type * as z from 'zod';
import { mediaTypeOf, readBytes } from '../http/body.ts';
import { problem } from '../kernel/problems.ts';

export const MOST_BODY_BYTES = 64 * 1024;

/**
 * Reads a JSON body against a strict schema.
 * @throws Problem `unsupported_media_type`, `payload_too_large` (also for a chunked body, as soon as it is known),
 *   `invalid_json`, `invalid_request` with `detail.issues`
 */
export async function readBody<S extends z.ZodType>(request: Request, schema: S): Promise<z.output<S>> {
  return (await readSignedBody(request, schema)).body;
}

/**
 * The same, with the bytes as they were sent, for a signature over them. They are read once: a copy of the request
 * would wait for its other half when the body is too large and is read no further.
 */
export async function readSignedBody<S extends z.ZodType>(
  request: Request,
  schema: S,
): Promise<{ body: z.output<S>; bytes: Uint8Array<ArrayBuffer> }> {
  if (mediaTypeOf(request) !== 'application/json') throw problem('unsupported_media_type');
  const bytes = await readBytes(request, MOST_BODY_BYTES);
  const value = parseJson(bytes);
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw problem('invalid_request', { detail: { issues: issuesOf(parsed.error) } });
  return { body: parsed.data, bytes };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw problem('invalid_json', { cause });
  }
}

/** One issue per field; an unknown field is named itself, not its parent. Values are never repeated. */
export function issuesOf(error: z.ZodError): { path: string; message: string }[] {
  return error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is not a known field.' }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
}

/** A filter in the query would be ignored in silence: refused, naming it. */
export function refuseQuery(url: string): void {
  const names = [...new Set(new URL(url).searchParams.keys())];
  if (names.length === 0) return;
  throw problem('invalid_request', {
    detail: { issues: names.map((path) => ({ path, message: 'is not a known query parameter.' })) },
  });
}
