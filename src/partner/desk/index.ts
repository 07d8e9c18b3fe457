export { insertPartnerKey } from './keys.ts';
export { deskRoutes } from './routes.ts';

export const loadDeskRoutes = () => import('./routes.ts');
