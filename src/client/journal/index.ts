export type {
  OpenPayment,
  PaymentJournal,
  PaymentRecord,
  RequestIdentity,
  SignedPayment,
} from './payments-store.ts';
export type { ClientStore, NotedIntent } from './store.ts';
export { clientMigrations } from './store-schema.ts';
export type { SavedTraveller, TravellerFields } from './travellers.ts';
export type { Look, Notice, Watch, Watches, WatchTerms } from './watches.ts';

export const loadLock = () => import('../../store/libsql/index.ts');
export const loadStore = () => import('./store.ts');
