import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import { affiliateRequest } from '../../../wire/flights/requests.ts';
import * as wire from '../../../wire/flights/schema.ts';

export const affiliateCreate = published(wire.affiliate, { plan: plan({ request: affiliateRequest }) });

export const affiliateShow = published(wire.affiliateCredit);
