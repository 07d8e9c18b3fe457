import * as z from 'zod';
import * as wire from '../../../wire/flights/schema.ts';
import { paid, paidPlan, published } from '../../spec/published.ts';

export const order = published(paid(wire.order), { plan: paidPlan({ order_id: z.string() }) });
