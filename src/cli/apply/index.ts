export * from './check.ts';
export * from './journal.ts';
export * from './plan.ts';
export * from './read.ts';
export * from './run.ts';
