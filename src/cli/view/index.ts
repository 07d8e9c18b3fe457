export {
  bookCommand,
  costLines,
  firstOfferLines,
  formatSol,
  isLockable,
  isMenuOffer,
  type Linked,
  money,
  nextLines,
  offerCommand,
  quoted,
  shortened,
  withPayment,
} from './payment.ts';
export * from './plan.ts';
export * from './problem.ts';

export const loadViewPlan = () => import('./plan.ts');
