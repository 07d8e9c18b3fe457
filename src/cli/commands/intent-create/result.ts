import { paid, paidPlan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import { createIntentRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';

export const intentCreate = published(paid(wire.createdIntent), {
  plan: paidPlan({ request: createIntentRequest }),
});
