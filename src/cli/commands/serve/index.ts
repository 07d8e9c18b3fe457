export * from './http-server.ts';
export * from './listening.ts';
