export { type Bought, buy, confirmsWithinMs } from './buy.ts';
export { readFares } from './fares.ts';
export { isServed, lookForFlights, takeFlights } from './flights.ts';
export * from './looks.ts';
export * from './manage.ts';
export { offersOf } from './offers.ts';
