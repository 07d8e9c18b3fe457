import type * as z from 'zod';

/** What a command prints under --json. */
export interface Published {
  readonly document: z.ZodType;
  /** Other documents of the same command, by what they are. */
  readonly others?: Readonly<Record<string, z.ZodType>>;
  /** What --dry-run prints instead. */
  readonly plan?: z.ZodType;
  /** The same document again and again: one on a line, as things change. */
  readonly streams?: true;
  /** The lines of --ndjson, by what they are. */
  readonly lines?: Readonly<Record<string, z.ZodType>>;
}

export const published = (document: z.ZodType, more: Omit<Published, 'document'> = {}): Published => ({
  document,
  ...more,
});
