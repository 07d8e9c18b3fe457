import * as desk from '../../../wire/flights/desk.ts';
import { published } from '../../spec/published.ts';

export const auditList = published(desk.auditTrail);
