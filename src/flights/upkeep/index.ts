export { DATABASE_BEHIND } from './restored.ts';
export * from './worker.ts';
