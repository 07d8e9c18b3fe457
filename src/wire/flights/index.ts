/** Types of the wire, without the schemas: importing this loads nothing. */

export type * from './desk.ts';
export type * from './offers.ts';
export type * from './requests.ts';
export type * from './schema.ts';
