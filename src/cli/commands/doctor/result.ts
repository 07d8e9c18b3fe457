import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const doctor = published(
  z.strictObject({
    status: z.enum(['ok', 'warning', 'failed']),
    home: z.string(),
    profile: z.string().nullable(),
    checks: z.array(
      z.strictObject({
        id: z.string(),
        status: z.enum(['ok', 'warning', 'failed']),
        message: z.string(),
        fix: z.string().nullable().describe('What to do; null: nothing is wrong.'),
        next: z.array(z.string()).describe('Commands that help.'),
      }),
    ),
  }),
);
