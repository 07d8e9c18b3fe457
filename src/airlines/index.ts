export * from './fulfiller.ts';
export * from './provider.ts';
