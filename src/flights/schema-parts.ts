import * as z from 'zod';

/** A field that may be left out, or be null, which says the same. */
export const optional = <T extends string | number>(schema: z.ZodType<T, T>) =>
  z
    .codec(schema.nullable(), schema.optional(), {
      decode: (value) => value ?? undefined,
      encode: (value) => value ?? null,
    })
    .optional();

/** The same for one that has a value of its own then. */
export const preset = <T extends string | number | boolean>(schema: z.ZodType<T, T>, value: T) =>
  z
    .codec(schema.nullable(), schema, { decode: (given) => given ?? value, encode: (given) => given })
    .prefault(value);
