export * from './offers.ts';
export type { OutboundPartner, OutboundResult } from './outbound.ts';
export { createOutboundAudit, type OutboundOperation } from './outbound-audit.ts';
export * from './outbound-partner.ts';
export * from './platform-answers.ts';
export { checkPartnerUrl, isPublicAddress } from './ssrf-guard.ts';
export { verifyWebhook } from './webhook-signature.ts';

export const loadPlatformsOffers = () => import('./offers.ts');
export const loadOutboundDesk = () => import('./outbound-desk.ts');
