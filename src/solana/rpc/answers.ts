import { type Address, isAddress } from '@solana/kit';
import * as z from 'zod';

// The parts of a cluster's answers that are used here (https://solana.com/docs/rpc).

/** An integer of up to 64 bits. */
const integer = z.union([z.int(), z.string().regex(/^-?\d+$/)]).transform((value) => BigInt(value));
const address = z.custom<Address>((value) => typeof value === 'string' && isAddress(value));
const base64Data = z.tuple([z.base64(), z.literal('base64')]).transform(([text]) => bytesOf(text));
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));
const withContext = <S extends z.ZodType>(value: S) =>
  z.looseObject({ value }).transform((answer) => (answer as { value: z.output<S> }).value);

export const latestBlockhashAnswer = z
  .looseObject({
    context: z.looseObject({ slot: integer }),
    value: z.looseObject({ blockhash: z.string(), lastValidBlockHeight: integer }),
  })
  .transform(({ context, value }) => ({ ...value, slot: context.slot }));
export const booleanAnswer = withContext(z.boolean());

export const accountsAnswer = withContext(
  z.array(z.looseObject({ data: base64Data, executable: z.boolean(), lamports: integer, owner: address }).nullable()),
);

export const simulationAnswer = withContext(
  z.looseObject({ err: z.unknown(), logs: z.array(z.string()).nullish(), unitsConsumed: integer.nullish() }),
);

export const statusesAnswer = withContext(
  z.array(
    z
      .looseObject({
        slot: integer,
        err: z.unknown(),
        // Older nodes omit it for finalized transactions.
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullish(),
      })
      .nullable(),
  ),
);

/** Newest first; `memo` is `[length] text`, joined by semicolons. */
export const historyAnswer = z.array(
  z.looseObject({
    signature: z.string(),
    slot: integer,
    blockTime: z.number().nullish(),
    memo: z.string().nullish(),
    err: z.unknown(),
  }),
);

/** The cluster's height and the node's slot. */
export const epochAnswer = z.looseObject({ absoluteSlot: integer, blockHeight: integer });

/** Micro-lamports per compute unit paid lately, one entry a block. */
export const prioritizationFeesAnswer = z.array(z.looseObject({ prioritizationFee: integer }));

export const integerAnswer = integer;

export const versionAnswer = z.looseObject({ 'solana-core': z.string().max(64).nullish() });

export const transactionAnswer = z
  .looseObject({
    slot: integer,
    blockTime: z.number().nullish(),
    transaction: base64Data,
    meta: z.looseObject({ err: z.unknown(), logMessages: z.array(z.string()).nullish() }).nullable(),
  })
  .nullable();

export const preflightData = z.looseObject({ err: z.unknown(), logs: z.array(z.string()).nullish() });
