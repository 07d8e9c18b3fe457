import * as z from 'zod';
import { atomic, formatUsdc } from '../kernel/money.ts';
import { PROBLEMS, type ProblemCode, type ProblemKind } from '../kernel/problems.ts';
import { MOST_BODY_BYTES } from './body.ts';
import {
  codesOf,
  componentName,
  type DeclaredAnswer,
  type HeaderParameter,
  type LazySchema,
  type PriceRange,
  type Route,
  type RouteTable,
} from './routes.ts';

/** A service as its tables declare it (OpenAPI 3.1). */
interface Described<O> {
  readonly info: object;
  readonly options: O;
  readonly tables: readonly {
    readonly table: RouteTable<unknown, O>;
    /** Makes the schema of a refusal's body with these codes. */
    readonly refusal: (codes: readonly ProblemCode[]) => object;
  }[];
  readonly securitySchemes: object;
  readonly schemas: Readonly<Record<string, object>>;
  /** Modules with schemas that are named in the document because the routes' schemas contain them. */
  readonly modules?: readonly (() => Promise<object>)[];
  /** Requests that the service itself sends, by name. */
  readonly webhooks?: object;
  readonly override?: Override;
}

type Io = 'input' | 'output';
type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ 'application/json': { schema } });
const TEXT = { type: 'string' };

export const publicCodes = (): ProblemCode[] =>
  (Object.keys(PROBLEMS) as ProblemCode[]).filter((code) => 'status' in PROBLEMS[code]);

export async function describe<O>(described: Described<O>) {
  const { tables, options } = described;
  const paths: Record<string, Record<string, object>> = {};
  for (const { table, refusal } of tables) {
    for (const route of table.routes) {
      const operation = await operationOf(table, route, options, refusal);
      paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
    }
  }
  return {
    openapi: '3.1.0',
    info: described.info,
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    paths,
    ...(described.webhooks && { webhooks: described.webhooks }),
    components: {
      schemas: { ...(await componentsOf(described)), ...described.schemas },
      securitySchemes: described.securitySchemes,
    },
  };
}

async function operationOf<C, O>(
  table: RouteTable<C, O>,
  route: Route<C, O>,
  options: O,
  refusal: (codes: readonly ProblemCode[]) => object,
): Promise<object> {
  const { summary, price, body } = route;
  const tag = route.tag ?? table.tag;
  const paid = price?.(options);
  return {
    operationId: route.id,
    ...(tag !== undefined && { tags: [tag] }),
    summary: typeof summary === 'string' ? summary : summary(options),
    ...(paid !== undefined && { 'x-payment-info': paymentInfo(paid) }),
    security: securityOf(route.security ?? table.security ?? (price ? [['x402']] : [])),
    parameters: await parametersOf(route),
    ...(body && { requestBody: requestBody(body, route.mostBodyBytes ?? MOST_BODY_BYTES) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, answer]) => [status, answerOf(answer, !!price)]),
      ),
      ...(price && { 402: CHALLENGE }),
      ...refusalsOf(codesOf(table, route), refusal),
    },
  };
}

const securityOf = (ways: readonly (readonly string[])[]): object[] =>
  ways.map((schemes) => Object.fromEntries(schemes.map((scheme) => [scheme, []])));

const requestBody = ({ name }: LazySchema, mostBytes: number) => ({
  required: true,
  description: `At most ${mostBytes / 1024} KiB.`,
  content: json(ref(name)),
});

async function parametersOf<C, O>({ path, headers, price, query }: Route<C, O>): Promise<object[]> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const known = query && z.toJSONSchema(await query.load(), { io: 'input' });
  return [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: TEXT })),
    ...[...(headers ?? []), ...(price ? [PAYMENT, PREFER] : [])].map((header) => ({
      name: header.name,
      in: 'header',
      required: header.required ?? false,
      schema: header.schema ?? TEXT,
      description: header.description,
    })),
    ...Object.entries(known?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: false,
      schema,
    })),
  ];
}

const PAYMENT: HeaderParameter = {
  name: 'PAYMENT-SIGNATURE',
  description: 'Base64 of an x402 version 2 payment payload. Without it the answer is 402 and a challenge.',
};

const PREFER: HeaderParameter = {
  name: 'Prefer',
  description:
    '`signed-offers`: the challenge has a signed offer (the extension `offer-receipt` of x402). `auth-capture`: a booking can be paid by that scheme.',
};

const REQUEST_ID = { 'X-Request-Id': { schema: TEXT, description: 'Quote it when you ask.' } };

const PAYMENT_RESPONSE = {
  'PAYMENT-RESPONSE': { schema: TEXT, description: 'Base64 of the x402 settlement response.' },
  'Payment-Receipt': { schema: TEXT, description: 'Base64url of the receipt of a payment by MPP.' },
};

const CHALLENGE = {
  description:
    '`payment_required`: this call is paid. `payment_verification_failed` and `payment_settlement_failed`: the payment was not accepted, nothing was charged. The body equals the decoded header.',
  headers: {
    ...REQUEST_ID,
    'PAYMENT-REQUIRED': { schema: TEXT, description: 'Base64 of the body.' },
    'WWW-Authenticate': { schema: TEXT, description: 'The same price as a challenge of MPP (`Payment`).' },
  },
  content: json(ref('PaymentRequired')),
};

function answerOf({ description, schema, headers, free }: DeclaredAnswer, hasPrice: boolean): object {
  const several = schema && 'load' in schema ? [schema] : (schema ?? []);
  const [first = { type: 'object' }, ...others] = several.map(({ name }) => ref(name));
  return {
    description,
    headers: { ...REQUEST_ID, ...(hasPrice && !free ? PAYMENT_RESPONSE : {}), ...headers },
    content: json(others.length > 0 ? { anyOf: [first, ...others] } : first),
  };
}

/** Makes one response per status, with its codes for generated clients. */
function refusalsOf(codes: readonly ProblemCode[], refusal: (listed: readonly ProblemCode[]) => object) {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes) {
    const status = (PROBLEMS[code] as ProblemKind).status ?? 500;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const responses = [...byStatus].map(([status, listed]) => {
    const description = listed.map((code) => `\`${code}\`: ${PROBLEMS[code].message}`).join('\n\n');
    const headers = { ...REQUEST_ID, ...HEADERS[status] };
    return [String(status), { description, headers, content: json(refusal(listed)) }];
  });
  return Object.fromEntries(responses);
}

const RETRY_AFTER = { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } };
const HEADERS: Readonly<Record<number, object>> = {
  405: { Allow: { schema: TEXT } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** `x-payment-info` of a paid operation, in the form that catalogues of x402 services read. */
function paymentInfo(price: PriceRange): object {
  const usdc = (amount: bigint): string => formatUsdc(atomic(amount));
  return {
    price:
      typeof price === 'bigint'
        ? { mode: 'fixed', currency: 'USD', amount: usdc(price) }
        : { mode: 'dynamic', currency: 'USD', min: usdc(price[0]), max: usdc(price[1]) },
    protocols: [{ x402: {} }],
  };
}

/** Makes the schemas of requests (as sent) and answers (as received), and of what these contain. */
async function componentsOf<O>({ tables, modules = [], override }: Described<O>): Promise<object> {
  const routes = tables.flatMap(({ table }) => table.routes);
  const asked = routes.flatMap(({ body }) => body ?? []);
  const answered = routes.flatMap(({ answers }) => Object.values(answers).flatMap(({ schema }) => schema ?? []));
  const loaded = [...modules, ...[...asked, ...answered].map(({ module }) => module)];
  const registry = z.registry<{ id: string }>();
  for (const load of new Set(loaded)) {
    for (const [name, schema] of Object.entries(await load()))
      if (schema instanceof z.ZodObject) registry.add(schema, { id: componentName(name) });
  }
  return {
    ...namedIn(schemasAs(registry, 'input', override), asked),
    ...namedIn(schemasAs(registry, 'output', override), answered),
  };
}

function schemasAs(registry: z.core.$ZodRegistry<{ id: string }>, io: Io, override: Override | undefined) {
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => ref(id).$ref,
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    ...(override && { override }),
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
  );
}

/** Picks the schemas of `roots` and the schemas inside them. */
function namedIn(made: Readonly<Record<string, object>>, roots: readonly LazySchema[]): Record<string, object> {
  const found: Record<string, object> = {};
  const follow = (name: string): void => {
    const schema = made[name];
    if (!schema || name in found) return;
    found[name] = schema;
    for (const [, inner = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)) follow(inner);
  };
  for (const { name } of roots) follow(name);
  return found;
}
