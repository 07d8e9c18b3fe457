export const loadExplained = () => import('./explained.ts');
