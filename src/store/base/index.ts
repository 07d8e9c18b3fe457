export * from './applied-steps.ts';
export * from './migrate.ts';
export * from './regained.ts';
