export * from './cut-off.ts';
export { type nextStepsOf, toldLines } from './failed.ts';
export * from './story.ts';

export const loadFailed = () => import('./failed.ts');
