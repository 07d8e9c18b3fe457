import { type Address, getBase58Encoder, isAddress, type Signature } from '@solana/kit';
import * as z from 'zod';
import type { EmbeddedLedger } from '../embedded/index.ts';
import { isSignatureText } from '../transaction.ts';

const CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  simulation_failed: -32002,
  signature_verification_failed: -32003,
  block_not_available: -32004,
  /** An answer that is too long refuses the whole batch. */
  limit_exceeded: -32005,
  no_snapshot: -32008,
  unsupported_transaction_version: -32015,
  min_context_slot_not_reached: -32016,
};

/** A JSON-RPC error in Agave's words. */
export class JsonRpcError extends Error {
  override readonly name = 'JsonRpcError';
  readonly code: number;
  constructor(
    kind: keyof typeof CODES,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
    this.code = CODES[kind];
  }
}

export const invalidParams = (message: string): JsonRpcError =>
  new JsonRpcError('invalid_params', `Invalid param: ${message}`);

export type Method = (params: readonly unknown[]) => unknown;

/** Checks positional parameters against `schema`. */
export function method<S extends z.ZodType<readonly unknown[]>>(
  schema: S,
  run: (...params: Extract<z.output<S>, readonly unknown[]>) => unknown,
): Method {
  const call = run as (...params: readonly unknown[]) => unknown;
  return (params) => {
    // Clients fill omitted options with null.
    const given = [...params];
    while (given.length > 0 && (given.at(-1) === null || given.at(-1) === undefined)) given.pop();
    const parsed = schema.safeParse(given);
    if (parsed.success) return call(...parsed.data);
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `params[${issue.path.join('.')}]: ` : '';
    throw invalidParams(`${place}${issue?.message ?? 'not valid'}`);
  };
}

/** Finished JSON, so that a long answer can be written in parts. */
export class WrittenJson {
  constructor(readonly text: string) {}
}

export const written = (value: unknown): WrittenJson => new WrittenJson(toJson(value));

/** Writes bigints as plain numbers, as the validator does. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof WrittenJson) return value.text;
  // A fast path for long lists of slots.
  if (Array.isArray(value) && value.every(isNumber)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => toJson(one ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(',')}}`;
  }
  return JSON.stringify(value ?? null);
}

const isNumber = (value: unknown): boolean => typeof value === 'number';

export const addressParam = z.custom<Address>(
  (value) => typeof value === 'string' && isAddress(value),
  'not a base58 address of 32 bytes',
);
export const signatureParam = z.custom<Signature>(isSignatureText, 'not a base58 signature of 64 bytes');
export const integerParam = z.int().nonnegative();

const CURRENT = ['processed', 'confirmed', 'finalized'] as const;
const FORMER = ['recent', 'single', 'singleGossip', 'root', 'max'] as const;
export const commitment = z.enum([...CURRENT, ...FORMER]).nullish();
export const minContextSlot = integerParam.nullish();
/** All commitments are alike: a landed transaction is final. */
export const config = z.looseObject({ commitment, minContextSlot }).optional();
type Config = z.infer<typeof config>;

export const accountEncoding = z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']).nullish();
export const dataSlice = z.object({ offset: integerParam, length: integerParam }).nullish();

export const accountConfig = z
  .looseObject({ commitment, minContextSlot, encoding: accountEncoding, dataSlice })
  .optional();
export type AccountConfig = z.infer<typeof accountConfig>;

/** Refuses levels below `confirmed`, which show no blocks. @throws JsonRpcError */
export function requireConfirmed(options?: Pick<NonNullable<Config>, 'commitment'> | null): void {
  if (options?.commitment !== 'processed' && options?.commitment !== 'recent') return;
  throw new JsonRpcError('invalid_params', 'Method does not support commitment below `confirmed`');
}

/** @throws JsonRpcError for a slot that has not come yet. */
export function contextOf(ledger: EmbeddedLedger, options?: { minContextSlot?: number | null | undefined }) {
  const { slot } = ledger.peek();
  if ((options?.minContextSlot ?? 0) > slot) {
    throw new JsonRpcError('min_context_slot_not_reached', 'Minimum context slot has not been reached', {
      contextSlot: slot,
    });
  }
  return { apiVersion: API_VERSION, slot };
}

/** Adds the context to an answer. @throws JsonRpcError for a slot that has not come yet. */
export const answered = (ledger: EmbeddedLedger, options: Parameters<typeof contextOf>[1], value: unknown) => ({
  context: contextOf(ledger, options),
  value,
});

/** The Agave version that this models. */
export const API_VERSION = '3.0.0';

/** 128 bytes in the longer of the two encodings. */
const MOST_MEMCMP = 175;

const programFilter = z.union([
  z.object({ dataSize: integerParam }),
  z.object({
    memcmp: z.looseObject({
      offset: integerParam,
      bytes: z.string().max(MOST_MEMCMP),
      encoding: z.enum(['base58', 'base64']).nullish(),
    }),
  }),
]);
export const programFilters = z.array(programFilter).max(4).nullish();

/** Builds a check of an account's data against every filter. @throws JsonRpcError */
export function matcherOf(filters: z.infer<typeof programFilters>): (data: Uint8Array) => boolean {
  const matchers = (filters ?? []).map(matcher);
  return (data) => matchers.every((matches) => matches(data));
}

function matcher(filter: z.infer<typeof programFilter>): (data: Uint8Array) => boolean {
  if ('dataSize' in filter) return (data) => data.length === filter.dataSize;
  const { offset, bytes, encoding } = filter.memcmp;
  const wanted = encoding === 'base64' ? Buffer.from(bytes, 'base64') : Uint8Array.from(base58Bytes(bytes));
  return (data) => Buffer.compare(data.subarray(offset, offset + wanted.length), wanted) === 0;
}

function base58Bytes(text: string): Iterable<number> {
  try {
    return getBase58Encoder().encode(text);
  } catch {
    throw invalidParams('memcmp bytes are not base58');
  }
}
