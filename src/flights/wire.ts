/** Types of the wire, without the schemas: importing this loads nothing. */
export type * from './offer-schema.ts';
export type * from './operator-schema.ts';
export type * from './schema.ts';
export type * from './stuck-schema.ts';
