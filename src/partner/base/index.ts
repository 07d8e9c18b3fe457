export * from './call.ts';
export * from './credentials.ts';
export * from './customers.ts';
export * from './page.ts';
export * from './ports.ts';
export * from './tables.ts';
