export * from './airline-checks.ts';
export * from './attempts.ts';
export * from './audit.ts';
export * from './booking-states.ts';
export * from './intent-record.ts';
export * from './page-while.ts';
export * from './plan-upkeep.ts';
export * from './ports.ts';
export * from './switches.ts';
export * from './tables.ts';
export * from './wallets.ts';

export const loadAudit = () => import('./audit.ts');
