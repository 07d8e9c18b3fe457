export * from './booking.ts';
export { paymentsOf } from './command.ts';
export * from './cut-off.ts';
export type { nextStepsOf } from './next-steps.ts';
export * from './story.ts';
export { toldLines } from './told.ts';

export const loadCommand = () => import('./command.ts');
export const loadDemo = () => import('./demo.ts');
export const loadNextSteps = () => import('./next-steps.ts');
export const loadTold = () => import('./told.ts');
export const loadTypedNames = () => import('./typed-names.ts');
