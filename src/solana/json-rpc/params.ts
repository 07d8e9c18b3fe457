import { type Address, isAddress, type Signature } from '@solana/kit';
import * as z from 'zod';
import type { EmbeddedLedger } from '../embedded/index.ts';
import { isSignatureText } from '../transaction.ts';
import { INVALID_PARAMS, JsonRpcError, MIN_CONTEXT_SLOT_NOT_REACHED } from './wire.ts';

export const addressParam = z.custom<Address>(
  (value) => typeof value === 'string' && isAddress(value),
  'not a base58 address of 32 bytes',
);
export const signatureParam = z.custom<Signature>(isSignatureText, 'not a base58 signature of 64 bytes');
export const integerParam = z.int().nonnegative();

export const commitment = z.enum([
  'processed',
  'confirmed',
  'finalized',
  'recent',
  'single',
  'singleGossip',
  'root',
  'max',
]);
type Commitment = z.infer<typeof commitment>;
/** The last parameter of most methods. All commitments are alike here: what has landed is final. */
export const config = z
  .looseObject({ commitment: commitment.nullish(), minContextSlot: integerParam.nullish() })
  .optional();

export const accountEncoding = z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']);
export type AccountEncoding = z.infer<typeof accountEncoding>;
export const dataSlice = z.object({ offset: integerParam, length: integerParam });

export const accountConfig = z
  .looseObject({
    commitment: commitment.nullish(),
    minContextSlot: integerParam.nullish(),
    encoding: accountEncoding.nullish(),
    dataSlice: dataSlice.nullish(),
  })
  .optional();
export type AccountConfig = z.infer<typeof accountConfig>;

/** Blocks and what is in them are not shown below `confirmed`. @throws JsonRpcError */
export function requireConfirmed(options?: { commitment?: Commitment | null | undefined } | null): void {
  if (options?.commitment !== 'processed' && options?.commitment !== 'recent') return;
  throw new JsonRpcError(INVALID_PARAMS, 'Method does not support commitment below `confirmed`');
}

/** The context of an answer. @throws JsonRpcError when the client asks for a slot that has not come yet. */
export function contextOf(ledger: EmbeddedLedger, options?: { minContextSlot?: number | null | undefined }) {
  const { slot } = ledger.peek();
  if ((options?.minContextSlot ?? 0) > slot) {
    throw new JsonRpcError(MIN_CONTEXT_SLOT_NOT_REACHED, 'Minimum context slot has not been reached', {
      contextSlot: slot,
    });
  }
  return { apiVersion: API_VERSION, slot };
}

/** The version of the validator whose JSON-RPC this is in the likeness of. */
export const API_VERSION = '3.0.0';
