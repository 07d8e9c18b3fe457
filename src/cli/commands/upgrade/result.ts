import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const upgrade = published(
  z.strictObject({
    version: z.string(),
    latest: z.string().nullable().describe('null: the registry did not say.'),
    is_latest: z.boolean().nullable().describe('null: not known.'),
    installed_by: z.enum(['npm', 'pnpm', 'npx', 'project', 'checkout']),
    command: z.string().describe('Brings the newest version, the way this one was installed.'),
  }),
);
