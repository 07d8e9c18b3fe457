import type * as z from 'zod';

/** An answer that is a JSON-RPC error. Codes and words are those of Agave, the reference validator. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** More was asked for than is answered; whole batches are refused with it. */
export const LIMIT_EXCEEDED = -32005;
export const SIMULATION_FAILED = -32002;
export const BLOCK_NOT_AVAILABLE = -32004;
export const NO_SNAPSHOT = -32008;
export const SIGNATURE_VERIFICATION_FAILED = -32003;
export const UNSUPPORTED_TRANSACTION_VERSION = -32015;
export const MIN_CONTEXT_SLOT_NOT_REACHED = -32016;

export const invalidParams = (message: string): JsonRpcError =>
  new JsonRpcError(INVALID_PARAMS, `Invalid param: ${message}`);

/** `params` in, result out. */
export type Method = (params: readonly unknown[]) => unknown;

/** A method whose positional parameters are checked against `schema` first. */
export function method<S extends z.ZodType<readonly unknown[]>>(
  schema: S,
  run: (...params: Extract<z.output<S>, readonly unknown[]>) => unknown,
): Method {
  const call = run as (...params: readonly unknown[]) => unknown;
  return (params) => {
    // Clients that build the list by position fill the places of options not given with null.
    const given = [...params];
    while (given.length > 0 && (given.at(-1) === null || given.at(-1) === undefined)) given.pop();
    const parsed = schema.safeParse(given);
    if (parsed.success) return call(...parsed.data);
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `params[${issue.path.join('.')}]: ` : '';
    throw invalidParams(`${place}${issue?.message ?? 'not valid'}`);
  };
}

/** A part of an answer that is JSON already: a long answer is written in parts, and others have their turns in between. */
export class WrittenJson {
  constructor(readonly text: string) {}
}

export const written = (value: unknown): WrittenJson => new WrittenJson(toJson(value));

/** JSON with bigints as plain numbers, which is how the validator writes its 64-bit integers. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof WrittenJson) return value.text;
  // Long lists of slots.
  if (Array.isArray(value) && value.every(isNumber)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => toJson(one ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

const isNumber = (value: unknown): boolean => typeof value === 'number';
