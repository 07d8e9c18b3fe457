export * from './app.ts';
export { openBooks } from './books.ts';
export { isCut } from './errors.ts';
export { deliverDue, nextDelivery } from './events.ts';
export { createDuffelIds } from './ids.ts';
export { register } from './webhook-calls.ts';
export { createDuffelWorld } from './world.ts';
