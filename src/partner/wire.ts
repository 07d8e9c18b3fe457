/** Types of the wire, without the schemas: importing this loads nothing. */
export type { ConnectCode, ConnectErrorBody } from './connect-errors.ts';
export type * from './offer-schema.ts';
export type * from './operator-schema.ts';
export type * from './requirement-schema.ts';
export type * from './schema.ts';
