export * from './inspect.ts';
export { type Deployment, type DeploymentPlan, mayChange, planDeployment, requireFunds } from './plan.ts';
export * from './records.ts';
export * from './steps.ts';

export const loadDeploymentInspect = () => import('./inspect.ts');
