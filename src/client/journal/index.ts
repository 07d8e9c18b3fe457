export { clientMigrations } from './store-schema.ts';
export type {
  ClientStore,
  NotedIntent,
  OpenPayment,
  PaymentJournal,
  PaymentRecord,
  RequestIdentity,
  SignedPayment,
} from './store-types.ts';
export type { SavedTraveller, TravellerFields } from './travellers.ts';

export const loadStore = () => import('./store.ts');
