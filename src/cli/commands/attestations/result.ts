import * as z from 'zod';
import * as desk from '../../../wire/partner/desk.ts';
import { plan, published } from '../../spec/published.ts';

export const attestationsList = published(desk.attestationRecords);

export const attestationsShow = published(desk.openedAttestation);

export const attestationsDecide = published(desk.attestationRecord, {
  plan: plan({ attestation_id: z.string(), verdict: z.enum(['passed', 'rejected']) }),
});
