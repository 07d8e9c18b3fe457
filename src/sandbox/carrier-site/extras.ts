import { json } from '../../kernel/http.ts';
import { basketLines, EXTRAS, totalOf } from './basket.ts';
import { html, page, shownMoney } from './page.ts';
import { type Handler, redirect } from './visit.ts';

/** Extras, two of which nobody has asked for. */
export const extras: Handler = (visit) => {
  const { session } = visit;
  if (!session.fare || session.familyNames.length === 0) return redirect('/');
  const adults = session.search?.adults ?? 1;
  const main = html`<form method="post" action="/extras">
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
  return page(visit, 'Anything else?', main, { hasBasket: true });
};

/** Ticks or unticks an extra, and answers with the total. */
export const tickExtra: Handler = ({ session, form }) => {
  const id = form.get('extra') ?? '';
  const ticked = new Set(session.extras);
  if (form.get('ticked') === 'true' && EXTRAS.some((extra) => extra.id === id)) ticked.add(id);
  else ticked.delete(id);
  session.extras = ticked;
  return json({ total: shownMoney(totalOf(basketLines(session))) });
};

/** What is ticked in the form decides. */
export const takeExtras: Handler = ({ session, form, url }) => {
  const known = new Set(EXTRAS.map(({ id }) => id));
  session.extras = new Set(form.getAll('extra').filter((id) => known.has(id)));
  if (session.scenario === 'insurance_sticks') session.extras = new Set([...session.extras, 'insurance']);
  return redirect(session.scenario === 'redirect_elsewhere' ? elsewhere(url) : '/pay');
};

/** The same server by its other name: a browser takes it for another host. */
function elsewhere({ hostname, port }: URL): string {
  return `http://${hostname === 'localhost' ? '127.0.0.1' : 'localhost'}:${port}/elsewhere`;
}
