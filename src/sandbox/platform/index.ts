export * from './app.ts';
export { openBooks } from './books.ts';
export * from './due.ts';
export * from './mover.ts';

export const loadEmbedded = () => import('./embedded.ts');
