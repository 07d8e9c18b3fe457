export { deskRoutes } from './routes.ts';

export const loadKeys = () => import('./keys.ts');
export const loadDeskRoutes = () => import('./routes.ts');
