export { insertPartnerKey } from './accounts.ts';
export { newWebhookSecret } from './partners.ts';
export { deskRoutes } from './routes.ts';

export const loadDeskRoutes = () => import('./routes.ts');
