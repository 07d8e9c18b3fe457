export * from './cards.ts';
export * from './partner-demo.ts';
