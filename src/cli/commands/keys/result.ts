import * as desk from '../../../flights/desk/schema.ts';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const keysList = published(desk.operatorKeys);

export const keysIssue = published(desk.issuedKey, { plan: plan({}) });

export const keysRevoke = published(desk.operatorKey, { plan: plan({}) });
