export * from './seed.ts';

export const loadSeed = () => import('./seed.ts');
