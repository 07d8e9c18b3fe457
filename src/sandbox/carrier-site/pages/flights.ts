import { HttpResponse, json } from '../../../kernel/http.ts';
import { fareMenu } from '../../lowcost/fares.ts';
import { type Leg, type Trip, tripsFor } from '../../lowcost/flights.ts';
import { html, type Markup } from '../html.ts';
import { page } from '../page.ts';
import { localInstant, shownDay, shownDuration, shownMoney, shownTime } from '../shown.ts';
import { type Handler, redirect, type Search, type SitePorts, type Visit } from '../visit.ts';

/** Prices of the site change on the hours of the clock that divide by four, and in between hold to the cent. */
const PRICE_HOLDS_MINUTES = 240;

type Direction = 'out' | 'back';

export const quotedMinute = (nowMs: number): number =>
  Math.floor(nowMs / 60_000 / PRICE_HOLDS_MINUTES) * PRICE_HOLDS_MINUTES;

/** The page of results; its flights are listed by a script. */
export const flights: Handler = (visit) => {
  const { session } = visit;
  const { search } = session;
  if (!search) return redirect('/');
  const section = (direction: Direction, from: string, to: string, day: string): Markup => html`<section
data-direction="${direction}" aria-busy="true" ${direction === 'back' ? 'hidden' : ''}>
<h2>${from} to ${to}, ${shownDay(Date.parse(day))}</h2>
<p role="status" class="busy">Looking for flights…</p>
<ul class="flights" aria-label="${direction === 'out' ? 'Outbound flights' : 'Return flights'}"></ul>
</section>`;
  const { origin, destination, departDate, returnDate, adults } = search;
  const main = html`<p>Prices are for one adult; you asked for ${adults}.</p>
${section('out', origin, destination, departDate)}
${returnDate !== null && section('back', destination, origin, returnDate)}
<form method="post" action="/flights"><button class="primary" id="to-fares" disabled>Continue to fares</button></form>`;
  return page(visit, 'Choose your flights', main, { hasNewsletter: session.number % 4 < 2 });
};

/** The flights of a direction, for the script. */
export const flightsListed: Handler = async (visit) => {
  const { session, url, ports } = visit;
  const { search } = session;
  if (!search) return json([], 404);
  await ports.clock.sleep(LISTING_MS);
  return json(legsOf(visit, search, directionOf(url.searchParams)).map((leg) => listed(ports, leg)));
};

const LISTING_MS = 150;

const listed = (ports: SitePorts, leg: Leg) => ({
  id: idOf(leg),
  number: `${leg.carrier.code}${leg.number}`,
  from: leg.from.iata,
  to: leg.to.iata,
  departs: shownTime(leg.departureLocalMs),
  departs_at: localInstant(leg.departureLocalMs),
  arrives: shownTime(leg.arrivalLocalMs),
  arrives_at: localInstant(leg.arrivalLocalMs),
  days_later: Math.floor(leg.arrivalLocalMs / 86_400_000) - Math.floor(leg.departureLocalMs / 86_400_000),
  duration: shownDuration(leg.blockMinutes),
  price: shownMoney(fareMenu(ports.world, tripOf(ports, [leg], 1))[0]?.totalCents ?? 0),
});

export const tripOf = ({ clock }: SitePorts, legs: readonly Leg[], adults: number): Trip => ({
  legs,
  adults,
  quotedMinute: quotedMinute(clock.now()),
});

/** Takes a flight out of a list. */
export const chooseFlight: Handler = (visit) => {
  const { session, form } = visit;
  const direction = directionOf(form);
  const { search } = session;
  if (!search) return json({ error: 'no search' }, 404);
  const leg = legsOf(visit, search, direction).find((one) => idOf(one) === form.get('flight'));
  if (!leg) return json({ error: 'no such flight' }, 404);
  session.legs = direction === 'out' ? [leg] : [...session.legs.slice(0, 1), leg];
  return json({ chosen: idOf(leg) });
};

export const takeFlights: Handler = ({ session }) =>
  session.legs.length === (session.search?.returnDate == null ? 1 : 2)
    ? redirect('/fares')
    : new HttpResponse(400, 'Choose your flights first.');

const directionOf = (fields: URLSearchParams): Direction =>
  fields.get('direction') === 'back' ? 'back' : 'out';

const idOf = (leg: Leg): string => `${leg.carrier.code}${leg.number}-${leg.day}`;

/** The flights of one direction; those back leave late enough after the one out. */
function legsOf({ ports, session }: Visit, search: Search, direction: Direction): Leg[] {
  const { origin, destination, departDate, returnDate, adults } = search;
  const trips = tripsFor(
    ports.world,
    {
      origin,
      destination,
      departDate,
      returnDate: returnDate ?? undefined,
      adults,
      cabinClass: 'economy',
    },
    ports.clock.now(),
  );
  const [out] = session.legs;
  const legs = trips.flatMap((trip) => {
    if (direction === 'out') return trip.legs.slice(0, 1);
    return out && trip.legs[0] && idOf(trip.legs[0]) === idOf(out) ? trip.legs.slice(1) : [];
  });
  const once = new Map(legs.map((leg) => [idOf(leg), leg]));
  return [...once.values()].sort((a, b) => a.departureMs - b.departureMs);
}
