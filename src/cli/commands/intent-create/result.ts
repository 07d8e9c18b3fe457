import { createIntentRequest } from '../../../flights/request-schema.ts';
import * as wire from '../../../flights/schema.ts';
import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const intentCreate = published(paid(wire.createdIntent), {
  plan: paidPlan({ request: createIntentRequest }),
});
