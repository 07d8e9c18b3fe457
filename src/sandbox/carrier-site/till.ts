import { randomBytes } from 'node:crypto';
import { HttpResponse, json } from '../../kernel/http.ts';
import { centsOf, LATE_AT_LEAST_MS, LATE_BY } from '../airline/index.ts';
import { amountOnCard, cardDigest } from './cards.ts';
import { confirmationMail } from './mail.ts';
import { framed, html, type Markup, page, shownMoney } from './page.ts';
import {
  basketLines,
  EXTRAS,
  legsOf,
  type Pages,
  type Placed,
  redirect,
  type Session,
  type SiteAnswer,
  totalOf,
  type Visit,
} from './visit.ts';

export const tillPages: Pages = {
  'GET /extras': (visit) => {
    const { session } = visit;
    if (!session.fare || session.familyNames.length === 0) return redirect('/');
    const adults = session.search?.adults ?? 1;
    return page(visit, 'Anything else?', { hasBasket: true })`<form method="post" action="/extras">
<fieldset><legend>Extras</legend>
${EXTRAS.map(
  ({ id, name, what, cents }) => html`<div class="extra">
<input type="checkbox" id="extra-${id}" name="extra" value="${id}" data-extra ${session.extras.has(id) ? 'checked' : ''}>
<label for="extra-${id}"><strong>${name}</strong> ${what}</label>
<span class="price">${shownMoney(cents * adults)}</span></div>`,
)}
</fieldset>
<button class="primary">Continue to payment</button>
</form>`;
  },
  'POST /extras/tick': ({ session, form }) => {
    const id = form.get('extra') ?? '';
    const ticked = new Set(session.extras);
    if (form.get('ticked') === 'true' && EXTRAS.some((extra) => extra.id === id)) ticked.add(id);
    else ticked.delete(id);
    session.extras = ticked;
    return json({ total: shownMoney(totalOf(basketLines(session))) });
  },
  // The submitted ticks decide.
  'POST /extras': ({ session, form, url }) => {
    const known = new Set(EXTRAS.map(({ id }) => id));
    session.extras = new Set(form.getAll('extra').filter((id) => known.has(id)));
    if (session.scenario === 'insurance_sticks') session.extras = new Set([...session.extras, 'insurance']);
    return redirect(session.scenario === 'redirect_elsewhere' ? elsewhere(url) : '/pay');
  },
  'GET /pay': async (visit) => {
    const { session, ports } = visit;
    const { scenario, fare } = session;
    if (!fare || session.familyNames.length === 0) return redirect('/');
    if (scenario === 'slow_page') await ports.clock.sleep(ports.slowMs);
    if (scenario === 'till_500')
      return new HttpResponse(500, 'Internal Server Error', { 'content-type': 'text/plain' });
    session.payToken = randomBytes(12).toString('hex');
    const lines = basketLines(session, true);
    return page(visit, 'Pay', { overlay: overTheButton(session) })`<h2>Your order</h2>
<ul class="lines">
${legsOf(session).map((leg) => html`<li><span>Flight ${leg.carrier.code}${leg.number}</span> <span>${leg.from.iata} to ${leg.to.iata}</span></li>`)}
${lines.map(({ name, cents }) => html`<li><span>${name}</span> <span>${shownMoney(cents)}</span></li>`)}
</ul>
<p class="total"><span>Total to pay</span> <strong id="total">${shownMoney(totalOf(lines))}</strong></p>
<h2>Your card</h2>
<iframe class="card" title="Card details" src="/card"></iframe>
<p class="error" id="card-error" role="alert" hidden></p>
<form method="post" action="/pay" id="pay-form" ${scenario === 'total_moves' ? 'data-moves=1' : ''} ${scenario === 'pays_itself' ? 'data-pays-itself=1' : ''}>
<input type="hidden" name="once" value="${session.payToken}"><input type="hidden" name="card">
${scenario === 'two_buttons' && html`<button class="primary" name="bundle" value="all">Pay now</button>`}
<button class="primary" id="pay">Pay now</button>
<span class="busy" id="paying" hidden>Paying…</span></form>`;
  },
  'POST /pay/refresh': ({ session }) => {
    session.totalHasMoved = true;
    return json({ total: shownMoney(totalOf(basketLines(session, true))) });
  },
  'GET /card': () =>
    framed('Card details')`<form id="card-form" autocomplete="off">
<div class="field"><label for="card-holder">Name on card</label><input id="card-holder" name="holder"></div>
<div class="field"><label for="card-number">Card number</label><input id="card-number" name="number" inputmode="numeric"></div>
<div class="row"><div class="field"><label for="card-expiry">Expiry date (MM/YY)</label><input id="card-expiry" name="expiry" placeholder="MM/YY"></div>
<div class="field"><label for="card-cvc">Security code</label><input id="card-cvc" name="cvc" inputmode="numeric"></div></div>
</form>`,
  // Keeps a token and a digest, never the number.
  'POST /card': ({ session, form, ports }) => {
    const number = (form.get('number') ?? '').replaceAll(/\s/g, '');
    const [, month = '', year = ''] = /^(\d{2})\/(\d{2})$/.exec(form.get('expiry') ?? '') ?? [];
    const endsMs = Date.UTC(2000 + Number(year), Number(month), 1);
    if (!/^\d{13,19}$/.test(number)) return json({ error: 'This is not a card number.' });
    if (month < '01' || month > '12' || endsMs <= ports.clock.now()) return json({ error: 'The card has expired.' });
    if (!/^\d{3,4}$/.test(form.get('cvc') ?? '')) return json({ error: 'The security code has three digits.' });
    if ((form.get('holder') ?? '').trim() === '') return json({ error: 'Give the name on the card.' });
    const token = randomBytes(12).toString('hex');
    session.cards.set(token, {
      digest: cardDigest(number),
      holdsCents: amountOnCard({ number, cvc: form.get('cvc') ?? '' }),
    });
    return json({ token });
  },
  // Only the first press of a page's button counts.
  'POST /pay': (visit) => {
    const { session, form } = visit;
    const card = session.cards.get(form.get('card') ?? '');
    if (!session.fare || !card) return new HttpResponse(400, 'There is nothing to pay for.');
    const paysEachTime = PAYS_EACH_TIME.has(session.scenario);
    const once = paysEachTime ? randomBytes(12).toString('hex') : (form.get('once') ?? '');
    if (!paysEachTime) {
      if (session.payToken === '' || once !== session.payToken)
        return page(visit, 'One moment', { status: 409 })`<p role="alert">This order is being paid already.</p>`;
      session.payToken = '';
    }
    return placeOrder(visit, once, card);
  },
};

/** This server under its other name, another host to browsers. */
function elsewhere({ hostname, port }: URL): string {
  return `http://${hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}/elsewhere`;
}

const OVER_MS = 400;

function overTheButton({ scenario }: Session): Markup | null {
  if (scenario === 'popup_over_pay')
    return html`<div class="over" data-wall="/chat" data-after="${OVER_MS}" hidden><div role="dialog" aria-label="Chat">
<h2>Hello! I am Hoppy.</h2><p>May I help you with your payment?</p>
<button type="button" data-close>Close chat</button></div></div>`;
  if (scenario === 'popup_stuck')
    return html`<div class="over"><div role="dialog" aria-label="Summer sale"><h2>Summer sale!</h2><p>Everything must go.</p></div></div>`;
  return null;
}

/** Tills that charge every request to pay. */
const PAYS_EACH_TIME: ReadonlySet<string> = new Set(['pays_itself', 'pays_again']);

const WRONG_BY_CENTS = 900;

const MOST_PAID_AGAIN = 3;

/** Records the press and the charge, then sells and mails as the scenario says. */
async function placeOrder(
  visit: Visit,
  payToken: string,
  { digest, holdsCents }: { readonly digest: string; readonly holdsCents: number | null },
): Promise<SiteAnswer> {
  const { session, ports } = visit;
  const { books, clock } = ports;
  const { scenario, reference } = session;
  const total = totalOf(basketLines(session, true));
  const nowMs = clock.now();
  const press = books.press(
    { payToken, reference, scenario, amountCents: total, cardDigest: digest, atMs: nowMs },
    scenario === 'card_declined' ? null : holdsCents,
  );
  if (press === null) return redirect('/confirmation');
  const leadTo = (shows: Placed['shows'], busyUntilMs = nowMs): SiteAnswer => {
    session.placed = { pressId: press.pressId, shows, busyUntilMs };
    return redirect('/confirmation');
  };
  const isFirst = session.placed === null;
  if (isFirst) leadTo('processing');
  if (press.outcome === 'declined')
    return scenario === 'pays_again' && !isFirst ? paidAgain(visit) : leadTo('declined');
  const sale = (confirmsAtMs: number | null) => sell(visit, press.pressId, total, confirmsAtMs);
  switch (scenario) {
    case 'pay_pressed_no_confirmation':
      if (press.pressId % 2 === 0) sale(null);
      return redirect('/confirmation');
    case 'forged_mail':
      forge(visit, total);
      return leadTo('mail');
    case 'cut_without_sale':
      return null;
    case 'cut_with_sale':
      sale(nowMs);
      return null;
    case 'late_confirmation':
      sale(nowMs + Math.max(LATE_AT_LEAST_MS, LATE_BY * ports.mailMs));
      return leadTo('mail');
    case 'pays_itself':
      sale(nowMs);
      leadTo('booking');
      await clock.sleep(ports.slowMs);
      return redirect('/confirmation');
    case 'answers_late':
      sale(nowMs + ports.lateMs);
      leadTo('booking', nowMs + ports.lateMs);
      await clock.sleep(ports.lateMs);
      return redirect('/confirmation');
    case 'pays_again':
      sale(nowMs);
      leadTo('booking');
      return paidAgain(visit);
    case 'mail_only':
      sale(nowMs);
      return leadTo('mail');
    default:
      sale(nowMs);
      return leadTo('booking', scenario === 'slow_confirmation' ? nowMs + ports.slowMs : nowMs);
  }
}

/** Reloading this page pays again; after a few times it leads to the booking. */
function paidAgain(visit: Visit): SiteAnswer {
  const { session } = visit;
  session.timesPaid += 1;
  if (session.timesPaid > MOST_PAID_AGAIN) return redirect('/confirmation');
  return page(visit, 'One moment')`<p class="busy" data-reloads>We are processing your payment…</p>`;
}

function sell({ session, ports }: Visit, pressId: number, total: number, confirmsAtMs: number | null): void {
  const { fare, scenario, email, familyNames, reference } = session;
  const { conditions } = fare ?? {};
  const penalty = conditions?.refund_allowed ? (centsOf(conditions.refund_penalty_amount) ?? 0) : null;
  const sale = ports.books.sell(pressId, {
    shownCents: scenario === 'wrong_amount' ? total + WRONG_BY_CENTS : total,
    flights: flightsOf(session),
    fare: fare?.brand ?? '',
    passengerCount: familyNames.length,
    familyNames,
    refundCents: penalty === null ? null : Math.max(0, total - penalty),
    confirmsAtMs,
  });
  if (confirmsAtMs === null) return;
  const dueAtMs = Math.max(confirmsAtMs, ports.clock.now() + ports.mailMs);
  ports.books.queueMail({ kind: 'signed', ...confirmationMail(email, sale, reference), dueAtMs });
}

/** Sends an unsigned mail about a booking that was never made. */
function forge({ session, ports }: Visit, total: number): void {
  const mail = confirmationMail(
    session.email,
    { locator: 'FAKE22', flights: flightsOf(session), shownCents: total },
    session.reference,
  );
  ports.books.queueMail({ kind: 'forged', ...mail, dueAtMs: ports.clock.now() });
}

const flightsOf = (session: Visit['session']): string =>
  legsOf(session)
    .map(
      ({ carrier, number, departureLocalMs, from, to }) =>
        `${carrier.code}${number} ${from.iata}-${to.iata} ${new Date(departureLocalMs).toISOString().slice(0, 10)}`,
    )
    .join(', ');
