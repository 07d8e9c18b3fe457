export * from './agreed.ts';
export * from './escrow-terms.ts';
export * from './normalise.ts';
export * from './spending.ts';
export * from './transport.ts';
export * from './trusted-program.ts';
export * from './types.ts';

export const loadAnswerRules = () => import('./agreed.ts');
export const loadEscrowTerms = () => import('./escrow-terms.ts');
export const loadNormalise = () => import('./normalise.ts');
export const loadTrustedProgram = () => import('./trusted-program.ts');
