export const loadRpcOpen = () => import('./open.ts');
