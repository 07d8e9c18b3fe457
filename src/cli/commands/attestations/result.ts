import * as z from 'zod';
import * as desk from '../../../partner/desk/schema.ts';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';

export const attestationsList = published(desk.attestationRecords);

export const attestationsShow = published(desk.openedAttestation);

export const attestationsDecide = published(desk.attestationRecord, {
  plan: plan({ attestation_id: z.string(), verdict: z.enum(['passed', 'rejected']) }),
});
