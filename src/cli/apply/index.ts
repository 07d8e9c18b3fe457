export * from './check.ts';
export * from './journal.ts';
export * from './plan.ts';
export * from './read.ts';
export { type JournalPlace, type Progress, type RowResult, readProgress } from './results.ts';
export { fieldNamed, type RowIssue } from './rows.ts';
export * from './run.ts';
