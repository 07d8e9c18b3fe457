import { published } from '../../../published/published.ts';
import * as desk from '../../../wire/flights/desk.ts';

export const auditList = published(desk.auditTrail);
