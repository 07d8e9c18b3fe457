import { isRealDate } from '../../kernel/clock.ts';
import { isCountry } from '../../kernel/domain/countries.ts';
import { centsOf } from '../airline/index.ts';
import type { BookedService, WorldOffer } from './books.ts';
import { currentCents, needsDocuments, needsInstantPayment, takesDocuments } from './dress.ts';
import { type Issue, invalid, refused } from './errors.ts';
import { offerIdOf, passengerIds } from './ids.ts';
import { type Asked, type Body, ECHOED, type EchoedPassenger, foundOffer, listOf, type Sandbox } from './sandbox.ts';
import { isSold, serviceById } from './services.ts';

export type WantedOrder = Awaited<ReturnType<typeof readOrder>>;

/** @throws ApiError with every wrong field, or the first broken rule */
export async function readOrder(asked: Asked) {
  const body = await asked.data();
  const issues: Issue[] = [];
  /** Paid later, by POST /air/payments. */
  const isHeld = body.type === 'hold';
  if (body.type !== 'instant' && !isHeld) issues.push(['type', 'validation_inclusion', 'must be instant or hold']);
  const offerId = selectedOffer(body);
  if (offerId === null) throw invalid(...issues, ['selected_offers', 'validation_length', 'must have one item']);
  const offer = foundOffer(asked, offerId);
  if (!offer)
    throw invalid(...issues, [
      'selected_offers',
      'linked_record_not_found',
      'must contain the ID of an existing offer',
    ]);
  const passengers = readPassengers(asked, offer, listOf(body.passengers), issues);
  const services = readServices(asked, offer, listOf(body.services), issues);
  const metadata = readMetadata(body.metadata, issues);
  if (isHeld && needsInstantPayment(offer))
    issues.push(['type', 'validation_inclusion', 'must be instant for this offer']);
  if (isHeld && listOf(body.payments).length > 0) issues.push(['payments', 'validation_length', 'must be empty']);
  const paid = isHeld ? null : readPayment(listOf(body.payments), issues);
  if (issues.length > 0) throw invalid(...issues);
  const names = passengers.map((one) => `${one.given_name} ${one.family_name}`.toLowerCase());
  if (new Set(names).size < names.length) throw refused('duplicate_passenger_name');
  const totalCents = currentCents(asked, offer) + services.reduce((sum, service) => sum + service.totalCents, 0);
  if (paid) checkPaid(paid, offer.offer.total_currency, totalCents);
  return { offerId, offer, isHeld, passengers, services, totalCents, metadata };
}

export function checkPaid(paid: { cents: number; currency: string }, currency: string, cents: number): void {
  if (paid.currency !== currency) throw refused('payment_currency_does_not_match_order_currency');
  if (paid.cents !== cents) throw refused('payment_amount_does_not_match_order_amount');
}

function selectedOffer({ selected_offers }: Body): string | null {
  const [offerId, second] = Array.isArray(selected_offers) ? selected_offers : [];
  return typeof offerId === 'string' && second === undefined ? offerId : null;
}

const TITLES = ['mr', 'ms', 'mrs', 'miss', 'dr'];
/** Letters of ASCII, Latin-1 and Latin Extended-A without Æ, Ĳ, Œ, Þ and ð; spaces, hyphens and apostrophes. */
const NAME = /^(?:(?![×÷ÆæĲĳŒœÞþÐð])[A-Za-zÀ-ÿĀ-ſ '-])+$/;
const MOST_NAME = 20;

function readPassengers(
  { ids }: Sandbox,
  offer: WorldOffer,
  given: readonly Body[],
  issues: Issue[],
): EchoedPassenger[] {
  const expected = passengerIds(ids, offer.request);
  if (given.length !== expected.length)
    issues.push(['passengers', 'validation_length', `must have ${expected.length} items, as in the offer`]);
  const seen = new Set<unknown>();
  return given.map((passenger, position) => {
    const at = `passengers/${position}`;
    const place = expected.indexOf(String(passenger.id));
    if (place < 0 || seen.has(passenger.id))
      issues.push([`${at}/id`, 'linked_record_not_found', 'must be the ID of a passenger of the offer, each once']);
    seen.add(passenger.id);
    checkPassenger(passenger, at, issues);
    checkAge(passenger, offer, place, at, issues);
    checkInfant(passenger, offer, ids, given, at, issues);
    checkDocuments(passenger, offer, `${at}/identity_documents`, issues);
    const infant = passenger.infant_passenger_id;
    return {
      ...(Object.fromEntries(ECHOED.map((field) => [field, String(passenger[field])])) as EchoedPassenger),
      ...(typeof infant === 'string' && { infant_passenger_id: infant }),
    };
  });
}

function checkPassenger(passenger: Body, at: string, issues: Issue[]): void {
  const check = (field: string, code: Issue[1], message: string, isRight: (text: string) => boolean) => {
    const value = passenger[field];
    if (value === undefined || value === null || value === '')
      issues.push([`${at}/${field}`, 'validation_required', "can't be blank"]);
    else if (typeof value !== 'string' || !isRight(value)) issues.push([`${at}/${field}`, code, message]);
  };
  for (const field of ['given_name', 'family_name']) {
    const tooLong = `should be at most ${MOST_NAME} character(s)`;
    check(field, 'validation_length', tooLong, (text) => text.length <= MOST_NAME);
    const value = passenger[field];
    if (typeof value === 'string' && value !== '' && !NAME.test(value))
      issues.push([`${at}/${field}`, 'validation_format', 'has invalid characters']);
  }
  check('title', 'validation_inclusion', `must be one of ${TITLES.join(', ')}`, (text) => TITLES.includes(text));
  check('gender', 'validation_inclusion', 'must be one of m, f', (text) => text === 'm' || text === 'f');
  check('email', 'validation_format', 'is not an email address', (text) => /^\S+@\S+\.\S+$/.test(text));
  check('phone_number', 'validation_format', 'is not in E.164', (text) => /^\+[1-9]\d{6,14}$/.test(text));
  check('born_on', 'validation_format', 'is not a date', isRealDate);
}

const lastDay = ({ offer }: WorldOffer): string => offer.slices.at(-1)?.departing_at.slice(0, 10) ?? '';

/** Ages count in whole years on the last slice's day of departure. */
function checkAge({ born_on }: Body, offer: WorldOffer, place: number, at: string, issues: Issue[]): void {
  const flown = lastDay(offer);
  if (typeof born_on !== 'string' || !isRealDate(born_on)) return;
  const years = Number(flown.slice(0, 4)) - Number(born_on.slice(0, 4)) - (flown.slice(5) < born_on.slice(5) ? 1 : 0);
  const searched = offer.request.ages[place] ?? null;
  const message = 'does not fit the age of the search on the day of the last departure';
  if (searched === null ? years < 18 : years !== searched)
    issues.push([`${at}/born_on`, 'passenger_age_mismatch', message]);
}

/** Each infant is on the lap of one adult, who names it. */
function checkInfant(
  { id, infant_passenger_id: infant }: Body,
  { request }: WorldOffer,
  ids: Sandbox['ids'],
  given: readonly Body[],
  at: string,
  issues: Issue[],
): void {
  const places = passengerIds(ids, request);
  const ageOf = (passenger: unknown) => request.ages[places.indexOf(String(passenger))];
  const isInfant = (age: number | null | undefined) => typeof age === 'number' && age < 2;
  if (infant !== undefined && infant !== null && (ageOf(id) !== null || !isInfant(ageOf(infant))))
    issues.push([
      `${at}/infant_passenger_id`,
      'validation_inclusion',
      'must be the ID of an infant, given by an adult',
    ]);
  const laps = given.filter(({ infant_passenger_id: one }) => one === id).length;
  if (isInfant(ageOf(id)) && laps !== 1)
    issues.push([`${at}/id`, 'validation_required', 'must be the infant_passenger_id of one adult']);
}

function checkDocuments({ identity_documents }: Body, offer: WorldOffer, at: string, issues: Issue[]): void {
  const documents = listOf(identity_documents);
  if (documents.length === 0) {
    if (needsDocuments(offer)) issues.push([at, 'identity_documents_required', "can't be blank"]);
    return;
  }
  if (!takesDocuments(offer)) issues.push([at, 'identity_documents_not_supported', 'is not supported']);
  const [{ type, unique_identifier, issuing_country_code: country, expires_on: expires } = {}] = documents as Body[];
  if (documents.length > 1 || type !== 'passport') issues.push([at, 'validation_inclusion', 'must be one passport']);
  if (typeof unique_identifier !== 'string' || unique_identifier === '')
    issues.push([`${at}/0/unique_identifier`, 'validation_required', "can't be blank"]);
  if (typeof country !== 'string' || country.length !== 2 || !isCountry(country))
    issues.push([`${at}/0/issuing_country_code`, 'validation_format', 'must be an ISO 3166-1 alpha-2 code']);
  if (typeof expires !== 'string' || !isRealDate(expires) || expires < lastDay(offer))
    issues.push([`${at}/0/expires_on`, 'validation_inclusion', 'must be after the journey']);
}

export function readServices(
  sandbox: Sandbox,
  offer: WorldOffer,
  given: readonly Body[],
  issues: Issue[],
): BookedService[] {
  const chosen = new Set<string>();
  const { bagCents, seatCents } = sandbox.books.offers.get(offerIdOf(sandbox.ids, offer)) ?? {};
  return given.flatMap(({ id, quantity }, position) => {
    const at = `services/${position}`;
    const service = serviceById(sandbox, offer, String(id));
    const isSeat = service?.type === 'seat';
    if ((isSeat ? seatCents : bagCents) === null || (isSeat && isSold(sandbox, service)))
      throw refused('ancillary_service_not_available');
    const places = isSeat
      ? [`${service.segmentId} ${service.designator}`, `${service.segmentId} ${service.passengerId}`]
      : [];
    if (places.some((place) => chosen.has(place)))
      issues.push([`${at}/id`, 'validation_inclusion', 'must be one seat for a passenger on a segment']);
    for (const place of places) chosen.add(place);
    if (!service) issues.push([`${at}/id`, 'linked_record_not_found', 'must be the ID of a service']);
    else if (typeof quantity !== 'number' || !Number.isInteger(quantity) || quantity < 1 || quantity > service.most)
      issues.push([`${at}/quantity`, 'validation_inclusion', `must be between 1 and ${service.most}`]);
    else {
      const { most: _, ...booked } = service;
      return [{ ...booked, quantity, totalCents: service.totalCents * quantity }];
    }
    return [];
  });
}

export function readPayment(given: readonly Body[], issues: Issue[]): { cents: number; currency: string } {
  const [payment] = given;
  if (!payment || given.length > 1) {
    issues.push(['payments', 'validation_length', 'must have one item']);
    return { cents: 0, currency: '' };
  }
  if (payment.type !== 'balance') issues.push(['payments/0/type', 'validation_inclusion', 'must be balance']);
  const cents = centsOf(payment.amount);
  if (cents === null) issues.push(['payments/0/amount', 'validation_format', 'is not an amount']);
  if (typeof payment.currency !== 'string' || !/^[A-Z]{3}$/.test(payment.currency))
    issues.push(['payments/0/currency', 'validation_format', 'is not a currency']);
  return { cents: cents ?? 0, currency: String(payment.currency) };
}

const MOST_PAIRS = 50;
const MOST_KEY = 40;
const MOST_VALUE = 500;

function readMetadata(given: unknown, issues: Issue[]): Record<string, string> {
  if (given === undefined || given === null) return {};
  const pairs = typeof given === 'object' ? Object.entries(given) : [];
  const isRight = ([key, value]: [string, unknown]) =>
    /^[\w-]+$/.test(key) && key.length <= MOST_KEY && typeof value === 'string' && value.length <= MOST_VALUE;
  const message = `must be at most ${MOST_PAIRS} pairs of texts of at most ${MOST_KEY} and ${MOST_VALUE} characters`;
  if (typeof given !== 'object' || pairs.length > MOST_PAIRS || !pairs.every(isRight))
    issues.push(['metadata', 'validation_format', message]);
  return Object.fromEntries(pairs.map(([key, value]) => [key, String(value)]));
}
