import * as desk from '../../../flights/desk/schema.ts';
import { published } from '../../../published/published.ts';

export const auditList = published(desk.auditTrail);
