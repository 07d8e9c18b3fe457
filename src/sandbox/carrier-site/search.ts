import { DAY_MS } from '../../kernel/clock.ts';
import { HttpResponse } from '../../kernel/http.ts';
import { html, type Markup, page } from './page.ts';
import { scenarioOfVisit, siteScenario } from './scenarios.ts';
import { type Pages, redirect, type Search, type Visit } from './visit.ts';

export const searchPages: Pages = {
  'GET /': (visit) => {
    const { session, url, ports } = visit;
    const asked = url.searchParams.get('scenario');
    if (asked !== null) {
      session.asked = siteScenario(asked);
      if (session.asked === null) return new HttpResponse(400, 'There is no such scenario.');
      session.scenario = session.asked;
    } else session.scenario = session.asked ?? ports.scenario;
    return searchPage(visit, {});
  },
  'POST /search': (visit) => {
    const { session, form, ports } = visit;
    const read = searchOf(form);
    const errors = errorsOf(read, form, ports.clock.now());
    if (Object.keys(errors).length > 0) return searchPage(visit, errors);
    session.search = read;
    session.out = null;
    session.back = null;
    session.fare = null;
    session.placed = null;
    session.scenario = scenarioOfVisit(session.asked, ports.scenario, read.origin, read.destination);
    return redirect('/flights');
  },
};

const searchOf = (form: URLSearchParams): Search => ({
  origin: (form.get('origin') ?? '').trim().toUpperCase(),
  destination: (form.get('destination') ?? '').trim().toUpperCase(),
  departDate: form.get('depart') ?? '',
  returnDate: form.get('trip') === 'return' ? (form.get('return') ?? '') : null,
  adults: Number(form.get('adults') ?? '1'),
});

type Errors = Readonly<Record<string, string>>;

function errorsOf(search: Search, form: URLSearchParams, nowMs: number): Errors {
  const { origin, destination, departDate, returnDate, adults } = search;
  const today = new Date(nowMs - DAY_MS).toISOString().slice(0, 10);
  const isDay = (day: string) => /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day));
  return {
    ...(/^[A-Z]{3}$/.test(origin) ? {} : { origin: 'Give the three letters of an airport.' }),
    ...(/^[A-Z]{3}$/.test(destination) ? {} : { destination: 'Give the three letters of an airport.' }),
    ...(origin !== '' && origin === destination ? { destination: 'Choose another airport.' } : {}),
    ...(isDay(departDate) && departDate >= today ? {} : { depart: 'Choose a day that is still to come.' }),
    ...(returnDate === null || (isDay(returnDate) && returnDate >= departDate)
      ? {}
      : { return: 'Choose a day after the departure.' }),
    ...(form.has('adults') && Number.isInteger(adults) && adults >= 1 && adults <= 9
      ? {}
      : { adults: 'Between one and nine adults.' }),
  };
}

function searchPage(visit: Visit, errors: Errors): HttpResponse {
  const { form, session } = visit;
  const value = (name: string, usual = '') => form.get(name) ?? usual;
  const isReturn = value('trip') === 'return';
  const field = (name: string, label: string, input: Markup): Markup => html`<div class="field">
<label for="${name === 'return' ? 'return-date' : name}">${label}</label>${input}
${errors[name] !== undefined && html`<p class="error" id="${name}-error">${errors[name] ?? ''}</p>`}</div>`;
  const wrong = (name: string) => (errors[name] === undefined ? '' : 'aria-invalid=true');
  const isInvalid = Object.keys(errors).length > 0;
  return page(visit, 'Where to?', { status: isInvalid ? 422 : 200, hasNewsletter: session.number % 4 === 3 })`
${isInvalid && html`<p role="alert">Look at the marked fields again.</p>`}
<form method="post" action="/search" aria-label="Search flights" novalidate>
<fieldset><legend>Trip</legend>
<label><input type="radio" name="trip" value="oneway" ${isReturn ? '' : 'checked'}> One way</label>
<label><input type="radio" name="trip" value="return" ${isReturn ? 'checked' : ''}> Return</label></fieldset>
<div class="row">
${field('origin', 'From', html`<input id="origin" name="origin" maxlength="3" autocomplete="off" ${wrong('origin')} value="${value('origin')}">`)}
${field('destination', 'To', html`<input id="destination" name="destination" maxlength="3" autocomplete="off" ${wrong('destination')} value="${value('destination')}">`)}
</div><div class="row">
${field('depart', 'Departure', html`<input id="depart" name="depart" type="date" ${wrong('depart')} value="${value('depart')}">`)}
${field('return', 'Return date', html`<input id="return-date" name="return" type="date" ${isReturn ? '' : 'disabled'} ${wrong('return')} value="${value('return')}">`)}
${field(
  'adults',
  'Adults',
  html`<select id="adults" name="adults">${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(
    (count) => html`<option ${value('adults', '1') === String(count) ? 'selected' : ''}>${count}</option>`,
  )}</select>`,
)}
</div>
<button class="primary">Search flights</button>
</form>`;
}
