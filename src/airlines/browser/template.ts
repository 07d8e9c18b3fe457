import * as z from 'zod';

/**
 * Texts of a recipe with values put in: `{origin}`, `{depart_date:DD/MM/YYYY}`, `{passenger.family_name}`. Which names
 * there are depends on the part; a name without a value stops the step, so that nothing half-filled is ever sent.
 */

const QUERY = ['origin', 'destination', 'origin_city', 'destination_city', 'depart_date', 'return_date'];
const PARTY = ['adults'];
/** Of the flights that were chosen. */
const TRIP = ['flight_number', 'return_flight_number'];
const PASSENGER = [
  'number',
  'index',
  'given_name',
  'family_name',
  'born_on',
  'title',
  'gender',
  'email',
  'phone_number',
  'nationality',
  'passport_number',
  'passport_expiry',
].map((name) => `passenger.${name}`);
/** `contact.email` is an address of our own with the reference in it, where one is set; else the first passenger's. */
const CONTACT = ['contact.email', 'contact.phone_number', 'contact.given_name', 'contact.family_name'];
const CARD = ['card.number', 'card.expiry', 'card.cvc', 'card.holder'];
const BOOKING = ['reference', 'booking_reference'];

const NAMES = new Set([...QUERY, ...PARTY, ...TRIP, ...PASSENGER, ...CONTACT, ...CARD, ...BOOKING]);

/** `{name}` and `{name:format}`. */
export const PLACE = /\{([a-z_.]+)(?::([^{}]*))?\}/g;

export const namesIn = (text: string): string[] => [...text.matchAll(PLACE)].map(([, name = '']) => name);

/** A text with places for values. */
export const template = z
  .string()
  .max(500)
  // Typed, a line's end would be the Enter key, which sends a form.
  .refine((text) => !/\p{Cc}/u.test(text), 'has a control character.')
  .refine((text) => !/[{}]/.test(text.replaceAll(PLACE, '')), 'has a brace that opens no {name}.')
  .refine((text) => namesIn(text).every((name) => NAMES.has(name)), {
    error: ({ input }) => `has an unknown name: ${namesIn(String(input)).find((name) => !NAMES.has(name))}.`,
  });
