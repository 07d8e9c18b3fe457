export * from './choice.ts';
export { bookingCommandNow, lockCommand, searchCommand } from './commands.ts';
export { searchStep } from './find.ts';
export { hasRunOut, lockStep } from './lock.ts';
export * from './party.ts';
export * from './resume.ts';
export { reviewStep } from './review.ts';
export * from './route.ts';
export { follow, newTrip, openTranscript, type Trip, type Walk } from './walk.ts';
