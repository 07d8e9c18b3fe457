import * as z from 'zod';

/** The served OpenAPI document, as a fuzzer reads it. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface Described {
  readonly operationId: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface ServedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Operation {
  /** `POST /air/search`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  /** Of the request's body; null where there is none. */
  readonly body: Schema | null;
  /** Names of the header parameters. */
  readonly headers: readonly string[];
  readonly paid: boolean;
  /** Needs an operator's key. */
  readonly operator: boolean;
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

export function operationsOf(document: ServedDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      body: described.requestBody?.content['application/json']?.schema ?? null,
      headers: (described.parameters ?? []).filter((one) => one.in === 'header').map((one) => one.name),
      paid: '402' in described.responses,
      operator: (described.security ?? []).some((one) => 'operatorKey' in one),
      responses: described.responses,
    })),
  );
}

/** The codes that an answer with this status may carry, as documented; none where the body is no error. */
export function codesOf(response: DocumentedResponse): string[] {
  const text = JSON.stringify(response.content?.['application/json']?.schema ?? {});
  const listed = /"code":\{"enum":(\[[^\]]*\])/.exec(text);
  return listed?.[1] ? (JSON.parse(listed[1]) as string[]) : [];
}

/**
 * Tells what is wrong with an answer: a status that is not documented, a body that is not of its schema, a header
 * that is promised and missing. Null when it is as documented.
 */
export function answersOf(document: ServedDocument) {
  const known = new Map<string, z.ZodType>();
  const schemaOf = (key: string, schema: object): z.ZodType => {
    const made = known.get(key) ?? compiled(schema, document);
    known.set(key, made);
    return made;
  };
  return function wrongWith(
    operation: Operation,
    answer: { status: number; body: unknown; headers: Headers },
    ask: { head?: boolean; sponsored?: boolean } = {},
  ): string | null {
    const { status, body, headers } = answer;
    if (!headers.get('x-request-id')) return 'has no X-Request-Id';
    if (status === 500) return 'failed inside';
    const response = operation.responses[String(status)];
    if (!response) return `has the status ${status}, which is not documented: ${JSON.stringify(body)}`;
    for (const name of Object.keys(response.headers ?? {})) {
      // A preview carries the one, an answer that x402 paid the other; MPP pays nothing here.
      const others = [ask.sponsored ? 'PAYMENT-RESPONSE' : 'X-Sponsored-Preview', 'Payment-Receipt'];
      if (!others.includes(name) && !headers.has(name)) return `${status} has no ${name}`;
    }
    if (status === 402 && headers.get('payment-required') !== encoded(body)) {
      return 'has a challenge that differs between header and body';
    }
    const schema = response.content?.['application/json']?.schema;
    if (!schema || ask.head) return body === null ? null : `${status} has a body that is not documented`;
    if (!headers.get('content-type')?.startsWith('application/json')) return `${status} is not JSON`;
    const codes = codesOf(response);
    const code = (body as { code?: unknown } | null)?.code;
    if (codes.length > 0 && !codes.includes(String(code))) return `${status} has the code ${String(code)}`;
    const parsed = schemaOf(`${operation.name} ${status}`, schema).safeParse(body);
    return parsed.success ? null : `${status} is not of its schema: ${JSON.stringify(parsed.error.issues)}`;
  };
}

const encoded = (body: unknown): string => Buffer.from(JSON.stringify(body)).toString('base64');

function compiled(schema: object, document: ServedDocument): z.ZodType {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas });
  const local = text.replaceAll('#/components/schemas/', '#/$defs/');
  return z.fromJSONSchema(JSON.parse(local) as z.core.JSONSchema.JSONSchema);
}
