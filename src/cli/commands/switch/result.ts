import * as z from 'zod';
import * as desk from '../../../wire/flights/desk.ts';
import { published } from '../../spec/published.ts';

export const turnSwitch = published(desk.switches, {
  plan: z.strictObject({ ...desk.switches.shape, dry_run: z.literal(true) }),
});
