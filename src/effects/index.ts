export type { Agreed, AirlineTold } from './airline-effects.ts';
export * from './effects.ts';
export * from './tables.ts';
