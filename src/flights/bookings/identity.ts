import { sameSecret } from '../../kernel/secrets.ts';
import type { BookingRow, FlightsPorts } from '../base/index.ts';
import { openPassengers } from './sealed-passengers.ts';

type Secrets = FlightsPorts['secrets'];

/** A code read aloud or typed: case and spaces don't count. */
export const normalisedCode = (code: string): string => code.trim().toUpperCase();

export const supportCodeHmac = (secrets: Secrets, code: string): string => secrets.hmac('support code', code);

/** True when a support code is that of the intent, in constant time. */
export const isCodeOf = (secrets: Secrets, intent: { readonly support_code_hmac: string }, code: string): boolean =>
  sameSecret(intent.support_code_hmac, supportCodeHmac(secrets, normalisedCode(code)));

/** Case, surrounding and repeated spaces, and how a letter is composed don't count (spec, refund requests). */
const normalisedName = (name: string): string =>
  name.normalize('NFKC').trim().replace(/\s+/g, ' ').replace(/[’ʼ]/g, "'").toUpperCase().toLowerCase();

/**
 * What a header may have meant: HTTP hands over bytes, and clients write names beyond ASCII as UTF-8 or as Latin-1.
 */
function nameForms(header: string): string[] {
  const bytes = Buffer.from(header, 'latin1');
  const utf8 = bytes.toString('utf8');
  return [header, utf8.includes('\ufffd') ? header : utf8].map(normalisedName);
}

/** The lead passenger's family name; null once the personal data is purged, or where none was recorded. */
export function leadFamilyName(
  secrets: Secrets,
  booking: Pick<BookingRow, 'intent_id' | 'passengers_sealed'> | undefined,
): string | null {
  if (!booking || booking.passengers_sealed === '') return null;
  return openPassengers(secrets, booking)[0]?.family_name ?? null;
}

/** True when a header names the family, in constant time: every form is compared to its end. */
export function isNameOf(familyName: string, header: string): boolean {
  const name = normalisedName(familyName);
  return nameForms(header)
    .map((form) => sameSecret(form, name))
    .reduce((either, one) => either || one, false);
}
