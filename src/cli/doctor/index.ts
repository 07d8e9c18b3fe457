export { type Check, type Examined, examine, findingOf, ok, type Patient, warning } from './checks.ts';

export const loadDatabases = () => import('./databases.ts');
export const loadMachine = () => import('./machine.ts');
export const loadNetwork = () => import('./network.ts');
export const loadServices = () => import('./services.ts');
