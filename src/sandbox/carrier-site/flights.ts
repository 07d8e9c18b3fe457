import { DAY_MS } from '../../kernel/clock.ts';
import { HttpResponse, json } from '../../kernel/http.ts';
import { centsOf } from '../airline/index.ts';
import { fareMenu, type Leg, type PageFare, shuffled, type Trip, tripsFor } from '../lowcost/index.ts';
import { html, localInstant, type Markup, page, shownDay, shownDuration, shownMoney, shownTime } from './page.ts';
import { legsOf, type Pages, preselected, redirect, type Search, type SitePorts, type Visit } from './visit.ts';

export const flightsPages: Pages = {
  // A script adds the flights to the page.
  'GET /flights': (visit) => {
    const { session } = visit;
    const { search } = session;
    if (!search) return redirect('/');
    const { origin, destination, departDate, returnDate, adults } = search;
    const section = (direction: Direction, title: Markup): Markup => html`<section data-direction="${direction}"
aria-busy="true" ${direction === 'back' && returnDate === null ? 'hidden' : ''}>
<h2>${title}</h2>
<p role="status" class="busy">Looking for flights…</p>
<ul class="flights" aria-label="${direction === 'out' ? 'Outbound flights' : 'Return flights'}"></ul>
</section>`;
    return page(visit, 'Choose your flights', { hasNewsletter: session.number % 4 < 2 })`
<p>Prices are for one adult; you asked for ${adults}.</p>
${section('out', html`${origin} to ${destination}, ${shownDay(Date.parse(departDate))}`)}
${
  returnDate === null &&
  html`<form id="add-return" aria-label="Return flight"><div class="row"><div class="field">
<label for="back-on">Flying back on</label><input id="back-on" name="return" type="date"></div></div>
<p class="error" role="alert" hidden></p><button>Add a return flight</button></form>`
}
${section('back', html`${destination} to ${origin}${returnDate !== null && `, ${shownDay(Date.parse(returnDate))}`}`)}
<form method="post" action="/flights"><p><button class="primary" id="to-fares" disabled>Continue to fares</button></p></form>`;
  },
  'POST /flights/return': ({ session, form }) => {
    const { search } = session;
    const returnDate = form.get('return') ?? '';
    if (!search) return json({ error: 'Search again.' }, 404);
    if (!/^\d{4}-\d{2}-\d{2}$/.test(returnDate) || !(returnDate >= search.departDate))
      return json({ error: 'Choose a day after the departure.' });
    session.search = { ...search, returnDate };
    return json({ direction: 'back' });
  },
  'GET /api/flights': async (visit) => {
    const { session, url, ports } = visit;
    const { search } = session;
    if (!search) return json([], 404);
    await ports.clock.sleep(LISTING_MS);
    return json(legsListed(visit, search, directionOf(url.searchParams)).map((leg) => listed(ports, leg)));
  },
  'POST /flights/choose': (visit) => {
    const { session, form } = visit;
    const direction = directionOf(form);
    const { search } = session;
    if (!search) return json({ error: 'no search' }, 404);
    const leg = legsListed(visit, search, direction).find((one) => idOf(one) === form.get('flight'));
    if (!leg) return json({ error: 'no such flight' }, 404);
    session[direction] = leg;
    return json({ is_complete: isComplete(session) });
  },
  'POST /flights': ({ session }) => {
    const { out, back } = session;
    if (!isComplete(session)) return new HttpResponse(400, 'Choose your flights first.');
    if (out && back && back.departureMs < out.departureMs + (out.blockMinutes + 60) * 60_000)
      return new HttpResponse(400, 'The return flight leaves too early.');
    return redirect('/fares');
  },
  // Each visitor sees another order.
  'GET /fares': async (visit) => {
    const { session, ports } = visit;
    const { search, scenario } = session;
    const legs = legsOf(session);
    if (!search || legs.length === 0) return redirect('/');
    if (scenario === 'slow_page') await ports.clock.sleep(ports.slowMs);
    if (scenario === 'fare_check_failed')
      return page(visit, 'Choose your fare')`<p role="alert">Fares are not available at the moment.</p>`;
    const menu = fareMenu(ports.world, tripOf(ports, legs, search.adults));
    session.fares = shuffled(ports.world, menu, session.number);
    return page(visit, 'Choose your fare', { hasBasket: true, hasNewsletter: session.number % 4 === 2 })`
<p>Prices are for all ${search.adults} adults and every flight.</p>
<form method="post" action="/fares">
<div class="cards" role="radiogroup" aria-label="Fares">${session.fares.map(fareCard)}</div>
<p><button class="primary">${scenario === 'layout_changed' ? 'Onwards' : 'Continue to passengers'}</button></p>
</form>`;
  },
  'POST /fares': ({ session, form }) => {
    const fare = form.has('fare') ? session.fares[Number(form.get('fare'))] : undefined;
    if (!fare) return new HttpResponse(400, 'Choose a fare first.');
    session.fare = fare;
    session.extras = preselected();
    return redirect('/passengers');
  },
};

/** Prices stay the same to the cent for four hours (UTC). */
const PRICE_HOLDS_MINUTES = 240;

type Direction = 'out' | 'back';

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
  days_later: Math.floor(leg.arrivalLocalMs / DAY_MS) - Math.floor(leg.departureLocalMs / DAY_MS),
  duration: shownDuration(leg.blockMinutes),
  price: shownMoney(fareMenu(ports.world, tripOf(ports, [leg], 1))[0]?.totalCents ?? 0),
});

const tripOf = ({ clock }: SitePorts, legs: readonly Leg[], adults: number): Trip => ({
  legs,
  adults,
  quotedMinute: Math.floor(clock.now() / 60_000 / PRICE_HOLDS_MINUTES) * PRICE_HOLDS_MINUTES,
});

const isComplete = ({ search, out, back }: Visit['session']): boolean =>
  search !== null && out !== null && (search.returnDate === null || back !== null);

const directionOf = (fields: URLSearchParams): Direction => (fields.get('direction') === 'back' ? 'back' : 'out');

const idOf = (leg: Leg): string => `${leg.carrier.code}${leg.number}-${leg.day}`;

function legsListed({ ports }: Visit, search: Search, direction: Direction): Leg[] {
  const { origin, destination, departDate, returnDate, adults } = search;
  const isOut = direction === 'out';
  const day = isOut ? departDate : returnDate;
  if (day === null) return [];
  const query = {
    origin: isOut ? origin : destination,
    destination: isOut ? destination : origin,
    departDate: day,
    adults,
    cabinClass: 'economy' as const,
  };
  const legs = tripsFor(ports.world, query, ports.clock.now()).flatMap((trip) => trip.legs);
  return legs.sort((a, b) => a.departureMs - b.departureMs);
}

const fareCard = (fare: PageFare, index: number): Markup => html`<article aria-label="${fare.brand ?? ''}">
<h3>${fare.brand ?? ''}</h3>
<p class="price">${shownMoney(fare.totalCents)}</p>
<ul>
<li class="hold">${fare.checkedBags === 0 ? 'No checked bag' : `${fare.checkedBags} checked bag`}</li>
<li class="cabin">${fare.carryOnBags === 0 ? 'Only a small bag under the seat' : `${fare.carryOnBags} cabin bag`}</li>
<li class="changes">${termsOf('Changes', fare.conditions?.change_penalty_amount ?? null)}</li>
<li class="refund">${termsOf('Refund', fare.conditions?.refund_penalty_amount ?? null)}</li>
</ul>
<label><input type="radio" name="fare" value="${index}"> Choose ${fare.brand ?? ''}</label>
</article>`;

const termsOf = (what: string, penaltyDecimal: string | null): string =>
  penaltyDecimal === null ? `${what}: not possible` : `${what}: for ${shownMoney(centsOf(penaltyDecimal) ?? 0)}`;
