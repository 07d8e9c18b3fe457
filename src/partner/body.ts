import type * as z from 'zod';
import { checked, readJson, refuse } from '../http/body.ts';
import type { Body } from '../http/router.ts';
import type { HttpRequest } from '../kernel/http.ts';
import { problem } from '../kernel/problems.ts';
import { normaliseProtoJson } from './protojson.ts';

/**
 * Reads a message in Connect's JSON codec. An empty body is an empty message, as stock clients may send one.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `body_incomplete`, `invalid_json`, `invalid_request`
 */
export async function readMessage(
  request: HttpRequest,
  schema: z.ZodType,
  { mostBodyBytes }: { readonly mostBodyBytes?: number },
): Promise<Body> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (encoding !== 'identity') {
    throw problem('unsupported_media_type', {
      message: 'Compressed bodies are not read.',
      fix: 'Send the body without Content-Encoding.',
    });
  }
  const { value: given, bytes } = await readJson(request, mostBodyBytes, {
    mayBeEmpty: true,
    namesOnce: true,
  });
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse([{ path: '', message: 'The body must be a JSON object.' }]);
  const { value, issues, asSent } = normaliseProtoJson(given);
  if (issues.length > 0) refuse(issues);
  return { body: checked(schema, value, asSent), bytes };
}
