import { type Secrets, sameSecret } from '../../kernel/secrets.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import type { BookingRow } from '../base/index.ts';

/** Place that binds sealed passengers to their booking's row. */
const place = (intentId: string): string => `bookings.passengers_sealed.${intentId}`;

type Sealed = Pick<BookingRow, 'intent_id' | 'passengers_sealed'>;

export const sealPassengers = (secrets: Secrets, intentId: string, passengers: readonly Passenger[]): string =>
  secrets.encrypt(place(intentId), JSON.stringify(passengers));

export const openPassengers = (secrets: Secrets, { intent_id, passengers_sealed }: Sealed): Passenger[] =>
  JSON.parse(secrets.decrypt(place(intent_id), passengers_sealed)) as Passenger[];

/** The lead passenger's family name; null if none was recorded, or the personal data is purged. */
export const leadFamilyName = (secrets: Secrets, booking: Sealed | undefined): string | null =>
  booking?.passengers_sealed ? (openPassengers(secrets, booking)[0]?.family_name ?? null) : null;

/** A code read aloud or typed: case and spaces don't count. */
export const normalisedCode = (code: string): string => code.trim().toUpperCase();

export const supportCodeHmac = (secrets: Secrets, code: string): string => secrets.hmac('support code', code);

/** Compares a support code with that of the intent, in constant time. */
export const isCodeOf = (secrets: Secrets, intent: { readonly support_code_hmac: string }, code: string): boolean =>
  sameSecret(intent.support_code_hmac, supportCodeHmac(secrets, normalisedCode(code)));

/** Case, surrounding and repeated spaces, and how a letter is composed don't count (spec, refund requests). */
const normalisedName = (name: string): string =>
  name.normalize('NFKC').trim().replace(/\s+/g, ' ').replace(/[’ʼ]/g, "'").toUpperCase().toLowerCase();

/** Compares a header with the family name in constant time. Clients write names beyond ASCII as UTF-8 or as Latin-1. */
export function isNameOf(familyName: string, header: string): boolean {
  const utf8 = Buffer.from(header, 'latin1').toString('utf8');
  const name = normalisedName(familyName);
  return [header, utf8.includes('\ufffd') ? header : utf8]
    .map((form) => sameSecret(normalisedName(form), name))
    .reduce((either, one) => either || one, false);
}
