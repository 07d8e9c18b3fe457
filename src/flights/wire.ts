/** Types of the wire, without the schemas: importing this loads nothing. */

export type * from './desk/schema.ts';
export type * from './desk/stuck-schema.ts';
export type * from './offers/offer-schema.ts';
export type * from './request-schema.ts';
export type * from './schema.ts';
