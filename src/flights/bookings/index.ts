export { finishCreation, holdOrDrop, retire } from './creations.ts';
export * from './escrows.ts';
export * from './funds.ts';
export * from './hold.ts';
export * from './identity.ts';
export * from './intents.ts';
export * from './late-ticket.ts';
export {
  BOOKINGS,
  beginBooking,
  CLOSE_AFTER_MS,
  FARTHEST_MS,
  farthestMs,
  LEASE_MS,
  type Move,
  moveBooking,
  NO_PAYMENT,
  NOT_ENDED,
  NOT_TICKETED,
  OPEN_BOOKINGS,
  planTasks,
  STEP_MS,
  watchForTicket,
} from './machine.ts';
export { createMails } from './mails.ts';
export * from './order-record.ts';
export * from './orders.ts';
export { createStepRunner } from './steps.ts';
export * from './travellers.ts';

export const loadAffiliates = () => import('./affiliates.ts');
export const loadBooking = () => import('./booking.ts');
export const loadOrders = () => import('./orders.ts');
