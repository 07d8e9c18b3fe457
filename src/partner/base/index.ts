export * from './call.ts';
export * from './credentials.ts';
export * from './ports.ts';
export * from './rows.ts';
export * from './tables.ts';
