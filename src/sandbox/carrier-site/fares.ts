import { HttpResponse } from '../../kernel/http.ts';
import { fareMenu, type PageFare } from '../lowcost/fares.ts';
import { shuffled } from '../lowcost/site.ts';
import { preselected } from './basket.ts';
import { tripOf } from './flights.ts';
import { html, type Markup } from './html.ts';
import { page } from './page.ts';
import { centsOf, shownMoney } from './shown.ts';
import { type Handler, legsOf, redirect } from './visit.ts';

/** The fare menu, in another order at every visit. */
export const fares: Handler = async (visit) => {
  const { session, ports } = visit;
  const { search, scenario } = session;
  const legs = legsOf(session);
  if (!search || legs.length === 0) return redirect('/');
  if (scenario === 'slow_page') await ports.clock.sleep(ports.slowMs);
  if (scenario === 'fare_check_failed')
    return page(visit, 'Choose your fare', html`<p role="alert">Fares are not available at the moment.</p>`);
  const menu = fareMenu(ports.world, tripOf(ports, legs, search.adults));
  session.fares = shuffled(ports.world, menu, session.number);
  const main = html`<p>Prices are for all ${search.adults} adults and every flight.</p>
<form method="post" action="/fares">
<div class="cards" role="radiogroup" aria-label="Fares">${session.fares.map(fareCard)}</div>
<p><button class="primary">${scenario === 'layout_changed' ? 'Onwards' : 'Continue to passengers'}</button></p>
</form>`;
  return page(visit, 'Choose your fare', main, { hasBasket: true, hasNewsletter: session.number % 4 === 2 });
};

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
  penaltyDecimal === null ? `${what}: not possible` : `${what}: for ${shownMoney(centsOf(penaltyDecimal))}`;

/** Takes the fare; whatever the site would like to sell with it is in the basket from here on. */
export const chooseFare: Handler = ({ session, form }) => {
  const fare = form.has('fare') ? session.fares[Number(form.get('fare'))] : undefined;
  if (!fare) return new HttpResponse(400, 'Choose a fare first.');
  session.fare = fare;
  session.extras = preselected();
  return redirect('/passengers');
};
