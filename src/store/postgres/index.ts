export * from './inspect.ts';
export { isDatabaseAway } from './refusal.ts';

export const loadPostgresInspect = () => import('./inspect.ts');
export const loadPostgresOpen = () => import('./open.ts');
export type { Reads } from './reads.ts';
export const loadReads = () => import('./reads.ts');
export type { Wakes } from './wakes.ts';
export const loadWakes = () => import('./wakes.ts');
