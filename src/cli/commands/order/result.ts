import * as z from 'zod';
import * as wire from '../../../flights/schema.ts';
import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const order = published(paid(wire.order), { plan: paidPlan({ order_id: z.string() }) });
