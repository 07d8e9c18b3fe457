export * from './command.ts';
export * from './description.ts';
export * from './mistaken.ts';
export * from './options.ts';
export * from './schema-files.ts';
export { buildTree, type Invocation, neededFor, optionOf } from './tree.ts';

export const loadSchemaFiles = () => import('./schema-files.ts');
