import { framed, html, page, shownMoney } from './page.ts';
import type { Handler } from './visit.ts';

/** Pages that end a purchase, or that no program gets past. */

export const soldOut: Handler = (visit) =>
  page(
    visit,
    'These seats are gone',
    html`<p role="alert">Somebody was faster: these seats have just been sold.</p>
<p><a href="/">Search again</a></p>`,
  );

export const account: Handler = (visit) =>
  page(
    visit,
    'Log in to go on',
    html`<p>This offer is for members of Hopper Club.</p>
<form method="post" action="/account">
<div class="field"><label for="member">Member number</label><input id="member" name="member" autocomplete="off"></div>
<div class="field"><label for="password">Password</label><input id="password" name="password" type="password" autocomplete="off"></div>
<button class="primary">Log in</button> <button>Create an account</button></form>`,
  );

export const check: Handler = (visit) =>
  page(
    visit,
    'Are you a person?',
    html`<p>Something about your browser made us think. Answer the question to go on.</p>
<iframe class="check" title="captcha challenge" src="/check/frame"></iframe>`,
  );

export const checkFrame: Handler = () =>
  framed(
    'captcha challenge',
    html`<p><label><input type="checkbox" disabled> I am not a robot</label></p><p class="busy">sandboxCAPTCHA</p>`,
  );

/** The till of somebody else, who looks the same. Whatever gets here is on record. */
export const elsewhere: Handler = (visit) => {
  const { ports, session } = visit;
  ports.books.noteElsewhere('opened', ports.clock.now());
  return page(
    visit,
    'Pay',
    html`<p class="total"><span>Total to pay</span> <strong id="total">${shownMoney(session.fare?.totalCents ?? 1)}</strong></p>
<form method="post" action="/elsewhere">
<div class="field"><label for="number">Card number</label><input id="number" name="number" autocomplete="off"></div>
<button class="primary" id="pay">Pay now</button></form>`,
  );
};

export const paidElsewhere: Handler = (visit) => {
  const { ports } = visit;
  ports.books.noteElsewhere('paid', ports.clock.now());
  return page(visit, 'Thank you', html`<p>Your money is somewhere else now.</p>`);
};
