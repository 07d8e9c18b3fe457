import type { Address, Signature } from '@solana/kit';
import * as z from 'zod';
import {
  type AccountConfig,
  accountConfig,
  accountEncoding,
  addressParam,
  config,
  dataSlice,
  signatureParam,
} from '../json-rpc/params.ts';
import { matcherOf, programFilters } from '../json-rpc/program-filters.ts';
import { invalidParams, JsonRpcError, METHOD_NOT_FOUND, type Method, method } from '../json-rpc/wire.ts';

/** What somebody wants to be told of. */
export type Wanted =
  | { readonly kind: 'slot' | 'root' | 'slotsUpdates' }
  | { readonly kind: 'signature'; readonly signature: Signature; readonly isReceivedTold: boolean }
  | { readonly kind: 'account'; readonly address: Address; readonly view: AccountConfig }
  | {
      readonly kind: 'program';
      readonly program: Address;
      readonly view: AccountConfig;
      readonly matches: (data: Uint8Array) => boolean;
    }
  /** null: of every transaction. */
  | { readonly kind: 'logs'; readonly mentions: Address | null };

export type Kind = Wanted['kind'];

const programConfig = z
  .looseObject({
    encoding: accountEncoding.nullish(),
    dataSlice: dataSlice.nullish(),
    filters: programFilters,
  })
  .optional();
const signatureConfig = z.looseObject({ enableReceivedNotification: z.boolean().nullish() }).optional();
const logsFilter = z.union([
  z.enum(['all', 'allWithVotes']),
  z.object({ mentions: z.array(addressParam).length(1, 'Only 1 address supported') }),
]);

const nothing = (kind: 'slot' | 'root' | 'slotsUpdates') => method(z.tuple([]), (): Wanted => ({ kind }));

const READ: Readonly<Record<Kind, Method>> = {
  slot: nothing('slot'),
  root: nothing('root'),
  slotsUpdates: nothing('slotsUpdates'),
  signature: method(
    z.tuple([signatureParam, signatureConfig]),
    (signature, options): Wanted => ({
      kind: 'signature',
      signature,
      isReceivedTold: options?.enableReceivedNotification ?? false,
    }),
  ),
  account: method(
    z.tuple([addressParam, accountConfig]),
    (address, view): Wanted => ({ kind: 'account', address, view }),
  ),
  program: method(
    z.tuple([addressParam, programConfig]),
    (program, options): Wanted => ({
      kind: 'program',
      program,
      view: options,
      matches: matcherOf(options?.filters),
    }),
  ),
  logs: method(
    z.tuple([logsFilter, config]),
    (filter): Wanted => ({
      kind: 'logs',
      mentions: typeof filter === 'string' ? null : (filter.mentions[0] ?? null),
    }),
  ),
};

/** What a validator can tell of, and one node without votes cannot. */
const NOT_OFFERED: Readonly<Record<string, string>> = {
  block: 'blockSubscribe is not offered here: subscribe to slots, and ask getBlock',
  vote: 'voteSubscribe is not offered here: this cluster has one node, and no votes',
};

type PubSubCall = { readonly end: number } | { readonly begin: Wanted; readonly asked: string };

/** Reads a call. @throws JsonRpcError */
export function readCall(name: string, params: unknown): PubSubCall {
  const [, kind = '', way] = /^([a-zA-Z]+)(Subscribe|Unsubscribe)$/.exec(name) ?? [];
  const read = Object.hasOwn(READ, kind) ? READ[kind as Kind] : undefined;
  if (!read) throw new JsonRpcError(METHOD_NOT_FOUND, NOT_OFFERED[kind] ?? 'Method not found');
  const given = params ?? [];
  if (!Array.isArray(given)) throw invalidParams('`params` should have at most an array');
  if (way === 'Subscribe') return { begin: read(given) as Wanted, asked: `${kind} ${JSON.stringify(given)}` };
  const [id] = given as unknown[];
  if (given.length !== 1 || !Number.isSafeInteger(id))
    throw invalidParams('not the number of a subscription');
  return { end: id as number };
}
