export * from './body.ts';
export * from './openapi.ts';
export * from './router.ts';
export * from './routes.ts';
