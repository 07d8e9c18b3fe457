export const loadComplete = () => import('./complete.ts');
