export * from './check.ts';
export * from './corrected.ts';
export * from './journal.ts';
export * from './mistakes.ts';
export * from './plan.ts';
export * from './read.ts';
export * from './run.ts';
