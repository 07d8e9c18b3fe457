export * from './book.ts';
export * from './calls.ts';
