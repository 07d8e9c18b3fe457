import * as desk from '../../../wire/flights/desk.ts';
import * as ramp from '../../../wire/partner/desk.ts';
import { plan, published } from '../../spec/published.ts';

export const keysList = published(desk.operatorKeys);
export const keysIssue = published(desk.issuedKey, { plan: plan({}) });
export const keysRevoke = published(desk.operatorKey, { plan: plan({}) });
export const keysPartnerList = published(ramp.partnerKeys);
export const keysPartnerIssue = published(ramp.issuedPartnerKey, { plan: plan({}) });
export const keysPartnerRevoke = published(ramp.partnerKey, { plan: plan({}) });
export const keysPartnerRotate = published(ramp.issuedPartnerKey, { plan: plan({}) });
export const keysToken = published(ramp.customerToken, { plan: plan({}) });
