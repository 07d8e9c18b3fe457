import * as desk from '../../../wire/flights/desk.ts';
import { plan, published } from '../../spec/published.ts';

export const keysList = published(desk.operatorKeys);

export const keysIssue = published(desk.issuedKey, { plan: plan({}) });

export const keysRevoke = published(desk.operatorKey, { plan: plan({}) });
