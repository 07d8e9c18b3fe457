import * as z from 'zod';
import * as desk from '../../../flights/desk/schema.ts';
import { published } from '../../../published/published.ts';

export const turnSwitch = published(desk.switches, {
  plan: z.strictObject({ ...desk.switches.shape, dry_run: z.literal(true) }),
});
