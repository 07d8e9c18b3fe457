import * as z from 'zod';
import { plan } from '../../../published/parts.ts';
import { published } from '../../../published/published.ts';
import * as desk from '../../../wire/partner/desk.ts';

export const attestationsList = published(desk.attestationRecords);

export const attestationsShow = published(desk.openedAttestation);

export const attestationsDecide = published(desk.attestationRecord, {
  plan: plan({ attestation_id: z.string(), verdict: z.enum(['passed', 'rejected']) }),
});
