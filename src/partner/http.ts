import type * as z from 'zod';
import {
  type Body,
  checked,
  createRouter,
  type Issue,
  type Route,
  readJson,
  refuse,
  type Serve,
  servedAt,
  type Visit,
} from '../http/index.ts';
import { type HttpRequest, headerOf } from '../kernel/http.ts';
import { once } from '../kernel/once.ts';
import { problem } from '../kernel/problems.ts';
import { STORABLE } from '../kernel/texts.ts';
import { authenticateCustomer, authenticatePartner, type Caller, type PartnerPorts } from './base/index.ts';
import { connectFailure } from './connect-errors.ts';
import { loadDeskRoutes } from './desk/index.ts';
import { aboutRoutes, procedureRoutes } from './routes.ts';

/**
 * Serves the partner service over HTTP: the procedures in Connect's unary form with the JSON codec (CONTRACT, section
 * 10), the operator's desk (loaded by its first call) and the OpenAPI document.
 * @param arrive runs before every call
 */
export function createPartnerHttp(ports: PartnerPorts, arrive = async (): Promise<void> => undefined): Serve {
  const served = { log: ports.log, ids: ports.ids, arrive };
  const procedures = createRouter({
    ...served,
    table: procedureRoutes(ports.serviceName),
    read: readMessage,
    failure: connectFailure,
    /** Authenticates before the body is read. */
    async enter({ request }: Visit, route: Route<Caller> | null): Promise<Caller> {
      checkConnectHeaders(request);
      const partner = await authenticatePartner(ports, headerOf(request, 'x-api-key'));
      const ofCustomer = route?.security?.some((schemes) => schemes.includes('customerToken'));
      const customerId = ofCustomer
        ? await authenticateCustomer(ports, headerOf(request, 'authorization'), partner.partnerId)
        : null;
      return { ports, partner, customerId };
    },
  });
  const document = once(async () => (await import('./openapi.ts')).openapiDocument(ports.serviceName));
  const describe = async (publicUrl: string | undefined) => servedAt(await document(), publicUrl);
  const about = createRouter({ ...served, table: aboutRoutes, enter: () => describe });
  return async function fetch(request, connection) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/partner/')) return about(request, connection);
    if (!pathname.startsWith('/operator/')) return procedures(request, connection);
    const { deskRoutes, enterDesk } = await loadDeskRoutes();
    return createRouter({ ...served, table: deskRoutes, enter: enterDesk(ports) })(request, connection);
  };
}

/** Checks Connect's own headers. Both are optional; another protocol version is refused. */
function checkConnectHeaders({ headers }: HttpRequest): void {
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1')
    refuse([{ path: 'Connect-Protocol-Version', message: 'must be 1, or left out.' }]);
  const timeout = headers['connect-timeout-ms'];
  if (timeout !== undefined && !/^\d{1,10}$/.test(timeout))
    refuse([{ path: 'Connect-Timeout-Ms', message: 'must be a number of milliseconds of at most ten digits.' }]);
}

/**
 * Reads a message in Connect's JSON codec. An empty body counts as an empty message, because stock clients may send it.
 * @throws Problem `unsupported_media_type`, `payload_too_large`, `body_incomplete`, `invalid_json`, `invalid_request`
 */
async function readMessage(
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
  const { value: given, bytes } = await readJson(request, mostBodyBytes, { mayBeEmpty: true, namesOnce: true });
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    refuse([{ path: '', message: 'The body must be a JSON object.' }]);
  const { value, issues, asSent } = normaliseProtoJson(given);
  if (issues.length > 0) refuse(issues);
  return { body: checked(schema, value, asSent), bytes };
}

/** Deeper than any message of ours; the limit protects the stack. */
const DEEPEST = 24;

/**
 * Normalises ProtoJSON (CONTRACT, section 10): names are in camelCase or snake_case, and `null` is unset. Refuses a
 * field under both names, and text that our databases cannot store.
 */
export function normaliseProtoJson(given: unknown) {
  const issues: Issue[] = [];
  const names = new Map<string, string>();

  function walk(value: unknown, path: readonly string[], sent: readonly string[]): unknown {
    if (typeof value === 'string') {
      if (isUnstorable(value))
        issues.push({ path: sent.join('.'), message: 'has characters that are not valid text.' });
      return value;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (path.length >= DEEPEST) {
      issues.push({ path: sent.slice(0, 3).join('.'), message: 'is nested too deeply.' });
      return null;
    }
    if (Array.isArray(value))
      return value.map((item, index) => walk(item, [...path, String(index)], [...sent, String(index)]));
    const fields = new Map<string, unknown>();
    const taken = new Map<string, string>();
    for (const [name, inner] of Object.entries(value)) {
      const camel = camelCase(name);
      const before = taken.get(camel);
      const here = [...path, camel];
      if (before !== undefined) {
        const path = [...sent, camel].join('.');
        issues.push({ path, message: `is given twice, as ${before} and as ${name}: give only one of them.` });
        continue;
      }
      taken.set(camel, name);
      if (isUnstorable(name)) {
        issues.push({ path: sent.join('.'), message: 'has a field whose name is not valid text.' });
        continue;
      }
      if (camel !== name || path.some((part, at) => part !== sent[at]))
        names.set(here.join('\0'), [...sent, name].join('.'));
      // null is unset, but the name stays: the schema still refuses an unknown field.
      fields.set(camel, inner === null ? undefined : walk(inner, here, [...sent, name]));
    }
    // Built from entries, so that a field named __proto__ is a field like any other.
    return Object.fromEntries(fields);
  }

  return {
    value: walk(given, [], []),
    issues,
    /** The path of an issue in the sender's names: `deposit_instructions.bank_name`. */
    asSent: (path: readonly PropertyKey[]): string =>
      names.get(path.map(String).join('\0')) ?? path.map(String).join('.'),
  };
}

/** Protobuf's JSON name of a field. Names that are not in snake_case stay. */
const camelCase = (name: string): string =>
  /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(name)
    ? name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
    : name;

const isUnstorable = (text: string): boolean => !STORABLE.test(text);
