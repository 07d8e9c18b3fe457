import { isRealDate } from '../../kernel/domain/calendar.ts';
import { isCountry } from '../../kernel/domain/countries.ts';
import type { BookedService, OfferRequestRecord } from './books.ts';
import { needsDocuments, needsInstantPayment, takesDocuments } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { centsOf } from './money.ts';
import { passengerIds } from './names.ts';
import type { Asked, EchoedPassenger, Sandbox } from './sandbox.ts';
import { foundOffer } from './sandbox.ts';
import { listOf } from './search-calls.ts';
import { serviceById } from './services.ts';
import type { WorldOffer } from './world.ts';

/** An order that breaks no rule. */
export interface WantedOrder {
  readonly offerId: string;
  readonly request: OfferRequestRecord;
  readonly offer: WorldOffer;
  readonly raisedCents: number;
  readonly passengers: readonly EchoedPassenger[];
  readonly services: readonly BookedService[];
  readonly totalCents: number;
  /** Paid later, by POST /air/payments. */
  readonly isHeld: boolean;
  readonly metadata: Readonly<Record<string, string>>;
}

type Body = Readonly<Record<string, unknown>>;

/** Reads an order. @throws ApiError with every wrong field, or with the first rule that it breaks */
export async function readOrder({ sandbox, data }: Asked): Promise<WantedOrder> {
  const body = await data();
  const issues: Issue[] = [];
  const isHeld = body.type === 'hold';
  if (body.type !== 'instant' && !isHeld)
    issues.push({ at: 'type', code: 'validation_inclusion', message: 'must be instant or hold' });
  const offerId = selectedOffer(body);
  const found = offerId === null ? null : foundOffer(sandbox, offerId);
  if (offerId === null || !found)
    throw invalid([
      ...issues,
      {
        at: 'selected_offers',
        code: offerId === null ? 'validation_length' : 'linked_record_not_found',
        message: offerId === null ? 'must have one item' : 'must contain the ID of an existing offer',
      },
    ]);
  const { request, offer, state } = found;
  const passengers = readPassengers(sandbox, request, offer, listOf(body.passengers), issues);
  const services = readServices(sandbox, request, offer, listOf(body.services), issues);
  const metadata = readMetadata(body.metadata, issues);
  if (isHeld && needsInstantPayment(request, offer))
    issues.push({ at: 'type', code: 'validation_inclusion', message: 'must be instant for this offer' });
  if (isHeld && listOf(body.payments).length > 0)
    issues.push({ at: 'payments', code: 'validation_length', message: 'must be empty' });
  const paid = isHeld ? null : readPayment(listOf(body.payments), issues);
  if (issues.length > 0) throw invalid(issues);
  const names = passengers.map((one) => `${one.given_name} ${one.family_name}`.toLowerCase());
  if (new Set(names).size < names.length) throw refused('duplicate_passenger_name');
  if (paid && paid.currency !== offer.offer.total_currency)
    throw refused('payment_currency_does_not_match_order_currency');
  const raisedCents = state?.raisedCents ?? 0;
  const owed = offer.totalCents + raisedCents + services.reduce((sum, service) => sum + service.totalCents, 0);
  if (paid && paid.cents !== owed) throw refused('payment_amount_does_not_match_order_amount');
  return { offerId, request, offer, isHeld, raisedCents, passengers, services, totalCents: owed, metadata };
}

function selectedOffer({ selected_offers }: Body): string | null {
  const [offerId, second] = Array.isArray(selected_offers) ? selected_offers : [];
  return typeof offerId === 'string' && second === undefined ? offerId : null;
}

const TITLES = ['mr', 'ms', 'mrs', 'miss', 'dr'];
const GENDERS = ['m', 'f'];
/** ASCII, Latin-1 and Latin Extended-A without Æ, Ĳ, Œ, Þ and ð; spaces, hyphens and apostrophes between letters. */
const NAME = /^(?:(?![×÷ÆæĲĳŒœÞþÐð])[A-Za-zÀ-ÿĀ-ſ '-])+$/;
const MOST_NAME = 20;

function readPassengers(
  { ids }: Sandbox,
  request: OfferRequestRecord,
  offer: WorldOffer,
  given: readonly Body[],
  issues: Issue[],
): EchoedPassenger[] {
  const expected = passengerIds(ids, request);
  if (given.length !== expected.length)
    issues.push({
      at: 'passengers',
      code: 'validation_length',
      message: `must have ${expected.length} items, as in the offer`,
    });
  const seen = new Set<unknown>();
  return given.map((passenger, position) => {
    const at = `passengers/${position}`;
    const place = expected.indexOf(String(passenger.id));
    if (place < 0 || seen.has(passenger.id))
      issues.push({
        at: `${at}/id`,
        code: 'linked_record_not_found',
        message: 'must be the ID of a passenger of the offer, each once',
      });
    seen.add(passenger.id);
    checkPassenger(passenger, at, issues);
    checkAge(passenger, request, offer, place, at, issues);
    checkDocuments(passenger, offer, at, issues);
    const { id, title, gender, given_name, family_name, born_on, email, phone_number } = passenger;
    return {
      id: String(id),
      title: String(title),
      gender: String(gender),
      given_name: String(given_name),
      family_name: String(family_name),
      born_on: String(born_on),
      email: String(email),
      phone_number: String(phone_number),
    };
  });
}

function checkPassenger(passenger: Body, at: string, issues: Issue[]): void {
  const check = (field: string, code: Issue['code'], message: string, isRight: (text: string) => boolean) => {
    const value = passenger[field];
    if (value === undefined || value === null || value === '')
      issues.push({ at: `${at}/${field}`, code: 'validation_required', message: "can't be blank" });
    else if (typeof value !== 'string' || !isRight(value)) issues.push({ at: `${at}/${field}`, code, message });
  };
  for (const field of ['given_name', 'family_name']) {
    check(
      field,
      'validation_length',
      `should be at most ${MOST_NAME} character(s)`,
      (text) => text.length <= MOST_NAME,
    );
    const value = passenger[field];
    if (typeof value === 'string' && value !== '' && !NAME.test(value))
      issues.push({ at: `${at}/${field}`, code: 'validation_format', message: 'has invalid characters' });
  }
  check('title', 'validation_inclusion', `must be one of ${TITLES.join(', ')}`, (text) => TITLES.includes(text));
  check('gender', 'validation_inclusion', 'must be one of m, f', (text) => GENDERS.includes(text));
  check('email', 'validation_format', 'is not an email address', (text) => /^\S+@\S+\.\S+$/.test(text));
  check('phone_number', 'validation_format', 'is not in E.164', (text) => /^\+[1-9]\d{6,14}$/.test(text));
  check('born_on', 'validation_format', 'is not a date', isRealDate);
}

/** Whole years at the departure of the last slice. */
function checkAge(
  { born_on }: Body,
  request: OfferRequestRecord,
  { offer }: WorldOffer,
  place: number,
  at: string,
  issues: Issue[],
): void {
  const flown = offer.slices.at(-1)?.departing_at.slice(0, 10) ?? '';
  if (typeof born_on !== 'string' || !isRealDate(born_on)) return;
  const years = Number(flown.slice(0, 4)) - Number(born_on.slice(0, 4)) - (flown.slice(5) < born_on.slice(5) ? 1 : 0);
  const searched = request.ages[place] ?? null;
  if (searched === null ? years < 18 : years !== searched)
    issues.push({
      at: `${at}/born_on`,
      code: 'passenger_age_mismatch',
      message: 'does not fit the age of the search on the day of the last departure',
    });
}

function checkDocuments({ identity_documents }: Body, offer: WorldOffer, at: string, issues: Issue[]): void {
  const documents = listOf(identity_documents);
  const field = `${at}/identity_documents`;
  if (documents.length === 0) {
    if (needsDocuments(offer))
      issues.push({ at: field, code: 'identity_documents_required', message: "can't be blank" });
    return;
  }
  if (!takesDocuments(offer))
    issues.push({ at: field, code: 'identity_documents_not_supported', message: 'is not supported' });
  const [document] = documents;
  const flown = offer.offer.slices.at(-1)?.departing_at.slice(0, 10) ?? '';
  if (documents.length > 1 || document?.type !== 'passport')
    issues.push({ at: field, code: 'validation_inclusion', message: 'must be one passport' });
  if (typeof document?.unique_identifier !== 'string' || document.unique_identifier === '')
    issues.push({ at: `${field}/0/unique_identifier`, code: 'validation_required', message: "can't be blank" });
  const country = document?.issuing_country_code;
  if (typeof country !== 'string' || country.length !== 2 || !isCountry(country))
    issues.push({
      at: `${field}/0/issuing_country_code`,
      code: 'validation_format',
      message: 'must be an ISO 3166-1 alpha-2 code',
    });
  const expires = document?.expires_on;
  if (typeof expires !== 'string' || !isRealDate(expires) || expires < flown)
    issues.push({ at: `${field}/0/expires_on`, code: 'validation_inclusion', message: 'must be after the journey' });
}

export function readServices(
  { ids }: Sandbox,
  request: OfferRequestRecord,
  offer: WorldOffer,
  given: readonly Body[],
  issues: Issue[],
): BookedService[] {
  return given.flatMap(({ id, quantity }, position) => {
    const at = `services/${position}`;
    const service = serviceById(ids, request, offer, String(id));
    if (!service) {
      issues.push({ at: `${at}/id`, code: 'linked_record_not_found', message: 'must be the ID of a service' });
      return [];
    }
    if (typeof quantity !== 'number' || !Number.isInteger(quantity) || quantity < 1 || quantity > service.most) {
      const message = `must be between 1 and ${service.most}`;
      issues.push({ at: `${at}/quantity`, code: 'validation_inclusion', message });
      return [];
    }
    const { most: _, ...booked } = service;
    return [{ ...booked, quantity, totalCents: service.totalCents * quantity }];
  });
}

export function readPayment(given: readonly Body[], issues: Issue[]): { cents: number; currency: string } {
  const [payment] = given;
  if (!payment || given.length > 1) {
    issues.push({ at: 'payments', code: 'validation_length', message: 'must have one item' });
    return { cents: 0, currency: '' };
  }
  if (payment.type !== 'balance')
    issues.push({ at: 'payments/0/type', code: 'validation_inclusion', message: 'must be balance' });
  const cents = centsOf(payment.amount);
  if (cents === null) issues.push({ at: 'payments/0/amount', code: 'validation_format', message: 'is not an amount' });
  if (typeof payment.currency !== 'string' || !/^[A-Z]{3}$/.test(payment.currency))
    issues.push({ at: 'payments/0/currency', code: 'validation_format', message: 'is not a currency' });
  return { cents: cents ?? 0, currency: String(payment.currency) };
}

const MOST_PAIRS = 50;
const MOST_KEY = 40;
const MOST_VALUE = 500;

function readMetadata(given: unknown, issues: Issue[]): Record<string, string> {
  if (given === undefined || given === null) return {};
  const pairs = typeof given === 'object' ? Object.entries(given) : [];
  const isRight =
    typeof given === 'object' &&
    pairs.length <= MOST_PAIRS &&
    pairs.every(
      ([key, value]) =>
        /^[\w-]+$/.test(key) && key.length <= MOST_KEY && typeof value === 'string' && value.length <= MOST_VALUE,
    );
  if (!isRight)
    issues.push({
      at: 'metadata',
      code: 'validation_format',
      message: `must be at most ${MOST_PAIRS} pairs of texts of at most ${MOST_KEY} and ${MOST_VALUE} characters`,
    });
  return Object.fromEntries(pairs.map(([key, value]) => [key, String(value)]));
}
