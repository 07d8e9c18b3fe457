import * as desk from '../../../partner/desk/schema.ts';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const keysPartnerList = published(desk.partnerKeys);

export const keysPartnerIssue = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysPartnerRevoke = published(desk.partnerKey, { plan: plan({}) });

export const keysPartnerRotate = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysToken = published(desk.customerToken, { plan: plan({}) });
