import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as desk from '../../../wire/flights/desk.ts';

export const keysList = published(desk.operatorKeys);

export const keysIssue = published(desk.issuedKey, { plan: plan({}) });

export const keysRevoke = published(desk.operatorKey, { plan: plan({}) });
