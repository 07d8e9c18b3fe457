export * from './tool.ts';
