export const loadCreate = () => import('./create.ts');
