export * from './allowance.ts';
export * from './tools.ts';
