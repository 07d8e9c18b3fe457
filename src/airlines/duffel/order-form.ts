import { alpha2Of } from '../../kernel/domain/countries.ts';
import type { Passenger } from '../../wire/flights/index.ts';
import { OrderRefused } from '../provider.ts';
import { type Fields, flag, list, object, text } from './read.ts';

/**
 * The body of POST /air/orders: paid at once from the seller's balance, exactly the offer's total.
 * @throws OrderRefused `form_rejected` where the passengers don't fit the offer: Duffel would refuse them
 */
export function orderForm(raw: Fields, reference: string, passengers: readonly Passenger[]) {
  const ids = (list(raw.passengers) ?? []).flatMap((one) => text(object(one)?.id) ?? []);
  if (ids.length !== passengers.length || new Set(ids).size !== ids.length) {
    throw new OrderRefused('form_rejected', false);
  }
  const documents = documentRule(raw);
  return {
    type: 'instant',
    selected_offers: [raw.id],
    passengers: passengers.map((passenger, index) => ({
      id: ids[index],
      title: passenger.title,
      gender: passenger.gender,
      given_name: airlineName(passenger.given_name),
      family_name: airlineName(passenger.family_name),
      born_on: passenger.born_on,
      email: passenger.email,
      phone_number: passenger.phone_number,
      ...identityDocuments(passenger, documents),
    })),
    payments: [{ type: 'balance', amount: raw.total_amount, currency: raw.total_currency }],
    metadata: { reference },
  };
}

/** Composed letters, and the plain apostrophe: the other spelling of the same name is refused. */
export const airlineName = (name: string): string => name.normalize('NFC').replaceAll('’', "'");

/** An empty list of supported documents says: send none. */
export function documentRule(raw: Fields): { required: boolean; supported: boolean } {
  const required = flag(raw.passenger_identity_documents_required) === true;
  const types = list(raw.supported_passenger_identity_document_types);
  return { required, supported: types ? types.includes('passport') : required };
}

function identityDocuments(passenger: Passenger, rule: { required: boolean; supported: boolean }) {
  const { nationality, passport_number: number, passport_expiry: expiry } = passenger;
  const country = nationality === undefined ? null : alpha2Of(nationality);
  if (!number || !expiry || country === null || !rule.supported) {
    if (rule.required) throw new OrderRefused('form_rejected', false);
    return {};
  }
  const document = {
    type: 'passport',
    unique_identifier: number,
    issuing_country_code: country,
    expires_on: expiry,
  };
  return { identity_documents: [document] };
}
