export * from './passenger-questions.ts';
export { passportWarnings, readPassengers } from './passengers.ts';
export * from './saving-traveller.ts';
export * from './travellers.ts';
export { openTyped, typedText } from './typed-field.ts';
