import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as desk from '../../../wire/partner/desk.ts';

export const keysPartnerList = published(desk.partnerKeys);

export const keysPartnerIssue = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysPartnerRevoke = published(desk.partnerKey, { plan: plan({}) });

export const keysPartnerRotate = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysToken = published(desk.customerToken, { plan: plan({}) });
