import * as z from 'zod';

export const decimal = z.string().regex(/^\d{1,12}(\.\d{1,6})?$/);
export const currency = z.string().regex(/^[A-Z]{3}$/);
export const iata = z.string().regex(/^[A-Z]{3}$/);
export const date = z.string().regex(/^\d{4}-\d\d-\d\d$/);
export const duration = z.string().regex(/^P(\d+D)?(T(\d+H)?(\d+M)?)?$/);
export const instant = z.iso.datetime();
export const cabinClass = z.enum(['economy', 'premium_economy', 'business', 'first']);

/** A field that may be left out or be null, with the same meaning. */
export const optional = <T extends string | number | boolean | string[] | number[]>(schema: z.ZodType<T, T>) =>
  z
    .codec(schema.nullable(), schema.optional(), {
      decode: (value) => value ?? undefined,
      encode: (value) => value ?? null,
    })
    .optional();

/** Like `optional`, but with a default value. */
export const preset = <T extends string | number | boolean>(schema: z.ZodType<T, T>, value: T) =>
  z.codec(schema.nullable(), schema, { decode: (given) => given ?? value, encode: (given) => given }).prefault(value);

export const chosenSeat = z.strictObject({
  passenger_index: z.int().min(0).max(8).describe('Among the travellers of the search, adults first, from 0.'),
  segment_index: z.int().min(0).max(31).describe('Among all flights of all slices, from 0.'),
  designator: z
    .string()
    .regex(/^\d{1,3}[A-Z]$/)
    .meta({ examples: ['12A'] }),
});
