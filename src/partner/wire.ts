/** Types of the wire, without the schemas: importing this loads nothing. */
export type { ConnectCode, ConnectErrorBody } from './connect-errors.ts';
export type * from './desk/schema.ts';
export type * from './offers/offer-schema.ts';
export type * from './requirements/requirement-schema.ts';
export type * from './schema.ts';
