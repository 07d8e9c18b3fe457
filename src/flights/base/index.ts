export * from './airline-checks.ts';
export * from './attempts.ts';
export * from './behind.ts';
export * from './intent-record.ts';
export * from './operators.ts';
export * from './ports.ts';
export * from './tables.ts';
export * from './wallets.ts';

export const loadAudit = () => import('./operators.ts');
