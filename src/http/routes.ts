import type * as z from 'zod';
import type { HttpRequest } from '../kernel/http.ts';
import type { ProblemCode } from '../kernel/problems.ts';

/** A service's calls, as routing, validation, refusals and /openapi.json need them; a call loads its code. */
export interface RouteTable<C, O = unknown> {
  readonly routes: readonly Route<C, O>[];
  readonly tag?: string;
  readonly security?: Security;
  /** Refusals of every route of this table, besides those of all tables. */
  readonly codes?: readonly ProblemCode[];
  /** The refusal for a path without a route. */
  readonly unknown: ProblemCode;
  /** Checks the key first: callers without one must not learn which paths exist. */
  readonly keyFirst?: true;
  readonly json?: JsonForm;
}

/** Alternative ways to authenticate, each a list of security schemes that are needed together. */
type Security = readonly (readonly string[])[];

export interface JsonForm {
  /** An empty body counts as an empty object. */
  readonly mayBeEmpty?: true;
  /** A name that is given twice in one object is refused. */
  readonly namesOnce?: true;
}

/** A price in atomic USDC: a fixed amount or a range. */
export type PriceRange = bigint | readonly [least: bigint, most: bigint];

export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly required?: true;
  readonly schema?: object;
}

export interface DeclaredAnswer {
  readonly description: string;
  /** The body has this schema, or one of several; any object if absent. */
  readonly schema?: LazySchema | readonly LazySchema[];
  readonly headers?: Readonly<Record<string, { readonly schema: object; readonly description: string }>>;
  /** The answer is free, although the call has a price. */
  readonly free?: true;
}

interface Described<O> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `/air/intents/{intent_id}`: a segment in braces is a parameter. */
  readonly path: string;
  readonly id: string;
  readonly summary: string | ((options: O) => string);
  readonly tag?: string;
  readonly security?: Security;
  /** A call with a price answers 402 until it is paid. */
  readonly price?: (options: O) => PriceRange;
  readonly headers?: readonly HeaderParameter[];
  readonly mostBodyBytes?: number;
  /** Answers by status. If `run` returns anything but an HttpResponse, the first status is sent. */
  readonly answers: Readonly<Record<number, DeclaredAnswer>>;
  readonly codes?: readonly ProblemCode[];
  /** `false` if the call needs no database. */
  readonly stored?: false;
}

export interface Visit {
  readonly request: HttpRequest;
  /** The X-Request-Id of the answer. */
  readonly requestId: string;
  readonly connection: Connection;
}

/** Facts from the HTTP server, never from the request alone; an embedded service has none. */
export interface Connection {
  readonly clientAddress?: string | undefined;
  /** The address at which the service was reached, without a trailing slash; absent if it cannot be trusted. */
  readonly publicUrl?: string | undefined;
}

/** One call of a route, checked with its schemas. */
export interface Call<C, B = unknown, Q = unknown, P extends string = string> extends Visit {
  /** Made by the service's `enter`. */
  readonly context: C;
  readonly params: Readonly<Record<P, string>>;
  readonly query: Q;
  readonly body: B;
  /** The body as it was sent, for a signature over it. */
  readonly bytes: Uint8Array;
  /** Describes the route for an index of paid services. */
  discovery(): Promise<object>;
}

interface Written<C, O, B extends z.ZodType, Q extends z.ZodType, Path extends string> extends Described<O> {
  readonly path: Path;
  readonly body?: LazySchema<B>;
  /** If absent, every query parameter is refused. */
  readonly query?: LazySchema<Q>;
  /** Returns the body of the answer, or an HttpResponse. */
  run(call: Call<C, z.output<B>, z.output<Q>, ParamsOf<Path>>): Promise<object>;
}

export interface Route<C, O = unknown> extends Described<O> {
  readonly body?: LazySchema;
  readonly query?: LazySchema;
  run(call: Call<C>): Promise<object>;
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamsOf<Rest>
  : never;

/** Makes a builder for routes of one context: `run` gets the types of the route's own schemas. */
export const routesOf =
  <C, O = unknown>() =>
  <B extends z.ZodType, Q extends z.ZodType, Path extends string>(route: Written<C, O, B, Q, Path>): Route<C, O> =>
    route;

export interface LazySchema<S extends z.ZodType = z.ZodType> {
  /** Its name in OpenAPI: the name of its export, capitalised. */
  readonly name: string;
  load(): Promise<S>;
  module(): Promise<object>;
}

type SchemaNames<M> = { [K in keyof M]: M[K] extends z.ZodType ? K : never }[keyof M] & string;

/** Names schemas of a module without loading it. */
export const schemasOf =
  <M extends object>(module: () => Promise<M>) =>
  <K extends SchemaNames<M>>(name: K): LazySchema<Extract<M[K], z.ZodType>> => ({
    name: componentName(name),
    module,
    load: async () => (await module())[name] as Extract<M[K], z.ZodType>,
  });

export const componentName = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Refusals if the database is unavailable, the disk fails, or a key of the operator is missing. */
const STORED: readonly ProblemCode[] = [
  ...(['not_ready', 'storage_full', 'storage_failed', 'storage_not_writable', 'storage_locked'] as const),
  ...(['storage_damaged', 'too_many_open_files', 'operator_key_unusable'] as const),
];
const BODY: readonly ProblemCode[] = ['invalid_json', 'body_incomplete', 'payload_too_large', 'unsupported_media_type'];
const PAID: readonly ProblemCode[] = [
  'invalid_payment_signature',
  'payment_id_taken',
  'payment_pending',
  'operator_funds_low',
];
const ANY: readonly ProblemCode[] = ['invalid_request', 'method_not_allowed', 'internal_error'];

export const codesOf = <C, O>(table: RouteTable<C, O>, route: Route<C, O>): readonly ProblemCode[] => [
  ...new Set([
    ...(route.body ? BODY : []),
    ...(route.price ? PAID : []),
    ...(table.codes ?? []),
    ...(route.codes ?? []),
    ...ANY,
    ...(route.stored === false ? [] : STORED),
  ]),
];

/** Adds to an OpenAPI document the address at which the client reached the service. */
export const servedAt = (document: object, publicUrl: string | undefined): object =>
  publicUrl === undefined ? document : { ...document, servers: [{ url: publicUrl }] };

/** A free GET also answers HEAD, unless its table checks the key first. */
export const methodsOf = <C, O>(table: RouteTable<C, O>, { method, price }: Route<C, O>): readonly string[] =>
  method === 'GET' && !price && !table.keyFirst ? ['GET', 'HEAD'] : [method];
