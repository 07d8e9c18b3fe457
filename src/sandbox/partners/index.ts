export * from './seed.ts';
export { SEEDED_PARTNERS } from './seed-table.ts';

export const loadSeed = () => import('./seed.ts');
