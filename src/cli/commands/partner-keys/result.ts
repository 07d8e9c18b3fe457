import * as desk from '../../../wire/partner/desk.ts';
import { plan, published } from '../../spec/published.ts';

export const keysPartnerList = published(desk.partnerKeys);

export const keysPartnerIssue = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysPartnerRevoke = published(desk.partnerKey, { plan: plan({}) });

export const keysPartnerRotate = published(desk.issuedPartnerKey, { plan: plan({}) });

export const keysToken = published(desk.customerToken, { plan: plan({}) });
