export const loadCreate = () => import('./create.ts');
export const loadVerify = () => import('./verify.ts');
