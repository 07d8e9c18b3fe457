/** Types of the wire, without the schemas: importing this loads nothing. */
export type * from './desk.ts';
export type { ConnectCode, ConnectErrorBody } from './kinds.ts';
export type * from './offers.ts';
export type * from './requirements.ts';
export type * from './schema.ts';
