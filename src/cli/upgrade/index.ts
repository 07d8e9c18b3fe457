export { isNewer, latestVersion, noteLook } from './latest.ts';
export * from './wanted.ts';

export const loadLatest = () => import('./latest.ts');
