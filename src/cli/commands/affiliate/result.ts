import { affiliateRequest } from '../../../flights/request-schema.ts';
import * as wire from '../../../flights/schema.ts';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const affiliateCreate = published(wire.affiliate, { plan: plan({ request: affiliateRequest }) });

export const affiliateShow = published(wire.affiliateCredit);
