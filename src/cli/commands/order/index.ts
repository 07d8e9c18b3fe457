export const loadRun = () => import('./run.ts');
