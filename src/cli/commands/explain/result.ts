import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const explain = published(
  z.strictObject({
    code: z.string(),
    message: z.string(),
    fix: z.string(),
    status: z.int().nullable().describe('HTTP status; null: only the tool raises it.'),
    exit: z.int().describe('Exit code of the tool.'),
    retryable: z.boolean(),
    next: z.array(z.string()).describe('Commands that help.'),
  }),
);
