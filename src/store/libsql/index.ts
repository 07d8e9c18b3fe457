export * from './driver.ts';
export * from './file.ts';
export * from './inspect.ts';
export * from './journal-disk.ts';
export * from './lock.ts';
export { openForReading, readRows } from './read-only.ts';
