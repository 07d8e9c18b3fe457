import * as z from 'zod';
import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as wire from '../../../wire/flights/schema.ts';

export const order = published(paid(wire.order), { plan: paidPlan({ order_id: z.string() }) });
