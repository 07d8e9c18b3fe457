import * as z from 'zod';
import { published } from '../../../published/published.ts';
import * as desk from '../../../wire/flights/desk.ts';

export const turnSwitch = published(desk.switches, {
  plan: z.strictObject({ ...desk.switches.shape, dry_run: z.literal(true) }),
});
