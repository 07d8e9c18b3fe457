export * from './messages.ts';
export * from './offers.ts';
export {
  type OutboundPartner,
  openOutbound,
  outboundPartner,
  type PartnerRow,
  sealWebhookSecret,
  webhookSecretsOf,
} from './outbound.ts';
export { createOutboundAudit } from './outbound-audit.ts';
export { checkPartnerUrl, isPublicAddress } from './ssrf-guard.ts';
export { newWebhookSecret, verifyWebhook } from './webhook-signature.ts';

export const loadPlatformsOffers = () => import('./offers.ts');
