export * from './attestations.ts';
export { inputKey, RUN_INPUTS } from './compliance.ts';
export { ATTESTATIONS, attestationsDue, ofCustomersIn, retentionDue } from './compliance-due.ts';
export { loadPolicy } from './policy.ts';
export * from './retention.ts';
export * from './standing.ts';
export { openData, saveData } from './submissions.ts';

export const loadCompliancePolicy = () => import('./policy.ts');
export const loadRequirements = () => import('./requirements.ts');
export const loadRetention = () => import('./retention.ts');
export const loadStanding = () => import('./standing.ts');
