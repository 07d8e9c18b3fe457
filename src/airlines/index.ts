export * from './direct.ts';
export * from './fulfiller.ts';
export * from './provider.ts';
