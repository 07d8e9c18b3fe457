import { HttpResponse, json } from '../../kernel/http.ts';
import type { Sale } from './books.ts';
import { framed, html, page, shownMoney } from './page.ts';
import { type Pages, redirect, type Visit } from './visit.ts';

export const confirmationPages: Pages = {
  'GET /confirmation': (visit) => {
    const { placed } = visit.session;
    if (!placed) return redirect('/');
    if (placed.shows === 'declined')
      return page(visit, 'Payment declined')`<p role="alert">Your bank did not take this card. Nothing was booked.</p>`;
    if (placed.shows === 'mail')
      return page(visit, 'Thank you for your order')`
<p>We have received your order. You will get a mail with your booking reference.</p>`;
    const sale = readySale(visit);
    if (!sale)
      return page(visit, 'One moment')`
<p class="busy" data-waiting>We are processing your payment. Do not close this page…</p>`;
    return page(visit, 'Your booking is confirmed')`
<p>Your booking reference</p><p class="locator" id="booking-reference">${sale.locator}</p>
<dl><dt>Flights</dt><dd>${sale.flights}</dd><dt>Fare</dt><dd>${sale.fare}</dd>
<dt>Passengers</dt><dd>${sale.passengerCount}</dd>
<dt>Amount paid</dt><dd id="amount-paid">${shownMoney(sale.shownCents)}</dd></dl>
<p>A mail is on its way. <a href="/manage">Manage this booking</a></p>`;
  },
  'GET /api/confirmation': (visit) => json({ is_ready: readySale(visit) !== null }),
  'GET /manage': (visit) => managePage(visit, null),
  // Finds only confirmed bookings.
  'POST /manage': (visit) => {
    const { session, form, ports } = visit;
    const sale = ports.books.saleFor(form.get('locator') ?? '', form.get('family') ?? '');
    if (!sale || sale.confirmsAtMs === null || sale.confirmsAtMs > ports.clock.now())
      return managePage(visit, 'We know no such booking.');
    session.managed = form.get('family') ?? '';
    return shownBooking(visit, sale);
  },
  // The first form only asks; the second one cancels.
  'POST /manage/cancel': (visit) => {
    const { session, form, ports } = visit;
    const sale = ports.books.saleFor(form.get('locator') ?? '', session.managed ?? '');
    if (!sale || session.managed === null) return redirect('/manage');
    if (sale.refundCents === null) return new HttpResponse(400, "This fare can't be cancelled.");
    if (form.get('sure') !== 'yes')
      return page(visit, 'Cancel this booking?')`
<p>${shownMoney(sale.refundCents)} of ${shownMoney(sale.paidCents)} go back to the card.</p>
<form method="post" action="/manage/cancel"><input type="hidden" name="locator" value="${sale.locator}">
<input type="hidden" name="sure" value="yes"><button class="primary">Yes, cancel it</button></form>`;
    ports.books.cancel(sale.locator, ports.clock.now());
    const cancelled = ports.books.saleFor(sale.locator, session.managed);
    return cancelled ? shownBooking(visit, cancelled) : redirect('/manage');
  },
  'GET /sold-out': (visit) =>
    page(visit, 'These seats are gone')`<p role="alert">Somebody was faster: these seats have just been sold.</p>
<p><a href="/">Search again</a></p>`,
  'GET /account': account,
  'POST /account': account,
  'GET /check': (visit) =>
    page(visit, 'Are you a person?')`<p>Something about your browser made us think. Answer the question to go on.</p>
<iframe class="check" title="captcha challenge" src="/check/frame"></iframe>`,
  'GET /check/frame': () =>
    framed('captcha challenge')`
<p><label><input type="checkbox" disabled> I am not a robot</label></p><p class="busy">sandboxCAPTCHA</p>`,
  // Another company's lookalike till; every visit is recorded.
  'GET /elsewhere': (visit) => {
    const { ports, session } = visit;
    ports.books.noteElsewhere('opened', ports.clock.now());
    return page(visit, 'Pay')`
<p class="total"><span>Total to pay</span> <strong id="total">${shownMoney(session.fare?.totalCents ?? 1)}</strong></p>
<form method="post" action="/elsewhere">
<div class="field"><label for="number">Card number</label><input id="number" name="number" autocomplete="off"></div>
<button class="primary" id="pay">Pay now</button></form>`;
  },
  'POST /elsewhere': (visit) => {
    const { ports } = visit;
    ports.books.noteElsewhere('paid', ports.clock.now());
    return page(visit, 'Thank you')`<p>Your money is somewhere else now.</p>`;
  },
};

function readySale({ session, ports }: Visit): Sale | null {
  const { placed } = session;
  const nowMs = ports.clock.now();
  if (placed?.shows !== 'booking' || nowMs < placed.busyUntilMs) return null;
  return ports.books.saleOfPress(placed.pressId);
}

const managePage = (visit: Visit, error: string | null) =>
  page(visit, 'Manage booking', { status: error === null ? 200 : 404 })`
${error !== null && html`<p role="alert">${error}</p>`}
<form method="post" action="/manage">
<div class="field"><label for="locator">Booking reference</label><input id="locator" name="locator" autocomplete="off"></div>
<div class="field"><label for="family">Last name</label><input id="family" name="family" autocomplete="off"></div>
<button class="primary">Find booking</button></form>`;

function shownBooking(visit: Visit, sale: Sale) {
  const { cancelledAtMs, refundCents } = sale;
  return page(visit, `Booking ${sale.locator}`)`
<dl><dt>Status</dt><dd id="booking-status" data-status="${cancelledAtMs === null ? 'confirmed' : 'cancelled'}">${cancelledAtMs === null ? 'Confirmed' : 'Cancelled'}</dd>
<dt>Booking reference</dt><dd id="booking-reference">${sale.locator}</dd>
<dt>Flights</dt><dd>${sale.flights}</dd><dt>Fare</dt><dd>${sale.fare}</dd>
<dt>Amount paid</dt><dd id="amount-paid">${shownMoney(sale.shownCents)}</dd></dl>
${cancelledAtMs === null && refundCents === null && html`<p>This fare can't be cancelled.</p>`}
${
  cancelledAtMs === null &&
  refundCents !== null &&
  html`<form method="post" action="/manage/cancel"><input type="hidden" name="locator" value="${sale.locator}">
<button>Cancel booking</button></form>`
}
${cancelledAtMs !== null && html`<p>${shownMoney(refundCents ?? 0)} go back to the card.</p>`}`;
}

function account(visit: Visit) {
  return page(visit, 'Log in to go on')`<p>This offer is for members of Hopper Club.</p>
<form method="post" action="/account">
<div class="field"><label for="member">Member number</label><input id="member" name="member" autocomplete="off"></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="off"></div>
<button class="primary">Log in</button> <button>Create an account</button></form>`;
}
